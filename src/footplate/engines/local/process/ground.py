"""What all tasks of one spawner share: the boot id, the control groups, the base of their mounts.

Runs in the spawner and its children.
"""

# Without pathlib this process starts sooner and stays smaller.
# ruff: noqa: PTH123, PTH208
from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING

from footplate.engines.local.confine import kernel, kernelfiles, mounting, syscall_filter, user_namespaces

if TYPE_CHECKING:
    # Not for the process itself, which is to start soon and stay small.
    from footplate.engines.local.exchange import Ground as Confined
    from footplate.engines.local.exchange import TaskOrder


# When the whole machine is out of memory, the kernel takes tasks before the server and what watches over it.
OOM_SCORE_ABOVE_OURS, HIGHEST_OOM_SCORE = 500, 1000
# Below are the numbers under which a new process finds what it is lent: ours must not be in their way.
FIRST_OWN_FD = 32
# Whose namespaces a task is born into, and the order in which the spawner comes back.
NAMESPACES = ("mnt", "ipc", "pid")


class Ground:
    """Made once, before the first task is started."""

    def __init__(self, confined: Confined) -> None:
        # Where tasks say that they are over.
        self.ends_fd = moved_up(confined["ends_fd"])
        reserve_descriptors()
        with open("/proc/sys/kernel/random/boot_id") as file:
            self.boot_id = file.read().strip()
        with open("/proc/self/oom_score_adj") as file:
            above_ours = int(file.read()) + OOM_SCORE_ABOVE_OURS
        self.oom_score = str(min(above_ours, HIGHEST_OOM_SCORE)).encode()
        self.view = confined["view"]
        self.sealed = confined["sealed"]
        self.mounted_within_s = confined["mounted_within_s"]
        # Whether tasks have processes, and a /proc, of their own.
        self.has_pids = confined["pids"]
        self.people = user_namespaces.People() if confined["accounts"] else None
        self.filter = syscall_filter.build() if confined["filter"] else b""
        # The program that begins and watches over tasks; empty where there is none.
        self.native = confined["native"]
        self.filter_fd = in_memory(self.filter)
        # Opened before they are sealed: through these, and only these, groups can still be made.
        self.places = {place: os.open(place, os.O_RDONLY | os.O_DIRECTORY) for place in confined["places"]}
        self.entry = {place: entry_of(fd) for place, fd in self.places.items()}
        self.tops = kernelfiles.tops_of(confined["places"])
        self.proc = kernelfiles.Proc()
        if self.view == "root":
            mounting.prepare(self.sealed, confined["covers"], confined["keeps"])
        self._own = {kind: os.open(f"/proc/self/ns/{kind}", os.O_RDONLY) for kind in NAMESPACES}

    def fork(self, task: TaskOrder) -> int:
        """Fork a child; where root may, as the first process of a PID namespace, unless it joins another."""
        if not self.has_pids or self.view != "root" or task["joins"]:
            return os.fork()
        kernel.unshare(kernel.CLONE_NEWPID)
        pid = -1
        try:
            pid = os.fork()
        finally:
            if pid != 0:
                kernel.setns(self._own["pid"], kernel.CLONE_NEWPID)
        return pid

    def leave(self) -> None:
        """Enter new namespaces, in which a task is to be born."""
        pids = kernel.CLONE_NEWPID if self.has_pids else 0
        kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | pids)

    def come_back(self) -> None:
        """Be where this process was; one that cannot ends, since whoever it starts would be elsewhere too."""
        try:
            for fd in self._own.values():
                kernel.setns(fd)
        except OSError as error:
            raise SystemExit(f"cannot leave the namespaces of a task: {error}") from error

    def make_groups(self, task: TaskOrder, name: str) -> list[int]:
        """Make the task's groups, unless it joins others; open the files through which they are entered."""
        name = task["joins"] or name
        entries = []
        for place, settings in task["groups"]:
            folder_fd = self.places[place]
            if not task["joins"]:
                os.mkdir(name, dir_fd=folder_fd)
            for file, text in settings:
                write_to(folder_fd, f"{name}/{file}", text)
            entries.append(os.open(f"{name}/{self.entry[place]}", os.O_WRONLY, dir_fd=folder_fd))
        return entries

    def own_groups(self, task: TaskOrder, name: str) -> list[tuple[str, str]]:
        """Say where a task's own groups are to be seen."""
        places = (place for place, _ in task["groups"])
        return [(f"{place}/{name}", self.tops[place]) for place in places if place in self.tops]

    def counters(self, task: TaskOrder, name: str) -> list[str]:
        """Say where the task itself finds what its groups count."""
        if task["view"] is None:
            return [f"{place}/{name}/{file}" for place, file in task["counters"]]
        return [f"{self.tops[place]}/{file}" for place, file in task["counters"] if place in self.tops]

    def remove_groups(self, task: TaskOrder, name: str) -> None:
        """Take back the groups of a task that this process did not become."""
        if not task["joins"]:
            for place, _ in task["groups"]:
                with contextlib.suppress(OSError):
                    os.rmdir(name, dir_fd=self.places[place])

    def remove_groups_of(self, task: TaskOrder, pid: int) -> None:
        """Take back the groups of a child that was killed on its way."""
        for place, _ in task["groups"]:
            for name in os.listdir(self.places[place]):
                if name.startswith(f"{pid}-"):
                    self.remove_groups(task, name)


def moved_up(fd: int) -> int:
    """Give a descriptor that was inherited a number that is in nobody's way, and keep it from programs."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_OWN_FD)
    os.close(fd)
    return moved


def reserve_descriptors() -> None:
    """Take the numbers below `FIRST_OWN_FD`, so that nothing of ours gets one of them."""
    while (fd := os.open(os.devnull, os.O_RDONLY)) < FIRST_OWN_FD:
        pass
    os.close(fd)


def in_memory(content: bytes) -> int:
    """Put bytes into memory that a descriptor stands for."""
    fd = os.memfd_create("filter")
    os.write(fd, content)
    return fd


def entry_of(place_fd: int) -> str:
    """Name the file through which a process enters the groups of a place.

    To move a whole process the kernel holds up every fork and exit of the machine, which takes some 5 ms. A
    thread that moves itself need not wait, and a child of ours has one; only version 1 of groups allows it.
    """
    try:
        os.stat("tasks", dir_fd=place_fd)
    except FileNotFoundError:
        return "cgroup.procs"
    return "tasks"


def write_to(folder_fd: int, path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY, dir_fd=folder_fd)
    try:
        os.write(fd, text.encode())
    except OSError as error:
        raise OSError(error.errno, f"{path} cannot be set to {text}: {error.strerror}") from None
    finally:
        os.close(fd)
