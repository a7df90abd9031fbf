"""Mounts the kernel's files for a task: `/dev` with its own GPUs only, its own `/proc` and control groups.

Runs in the children of the spawner, like `mounting`.
"""

# Without pathlib this process starts sooner and stays smaller.
# ruff: noqa: PTH102, PTH103, PTH110, PTH120, PTH211
from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from footplate.engines.local.confine import kernel
from footplate.engines.local.confine.kernel import (
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_RDONLY,
    MS_REC,
    MS_REMOUNT,
    mount,
)

SHM = "/dev/shm"  # noqa: S108
# By name: the numbers by which the kernel knows them, the same on every machine.
DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
# What in /proc speaks of the whole machine, and could change it where a right is given by mistake.
UNWRITABLE = ("sys", "irq", "bus", "fs", "sysrq-trigger")
UNREADABLE = ("kcore", "keys", "timer_list", "sched_debug", "latency_stats", "kmsg")
UNSEEN = ("acpi", "scsi")


def make_common_devices() -> None:
    """Cover `/dev`, once for all tasks, with one that has what a task without cards may see."""
    _make_devices([])


def make_devices(cards: list[str], shm_bytes: int, has_common: bool) -> None:
    """Give a task a `/dev` of its own: its cards, its terminals, its shared memory."""
    if not has_common:
        _make_devices(cards)
    mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
    mount("tmpfs", SHM, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=1777,size={shm_bytes}")


def _make_devices(cards: list[str]) -> None:
    # Opened before the host's are covered.
    wanted = [*(f"/dev/{name}" for name in DEVICES), *cards]
    opened = [(os.open(path, os.O_PATH), path) for path in wanted if os.path.exists(path)]
    mount("tmpfs", "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=64k,nr_inodes=256")
    for fd, path in opened:
        _place_device(fd, path)
        os.close(fd)
    for name, target in LINKS.items():
        os.symlink(target, f"/dev/{name}")
    os.mkdir("/dev/pts")
    os.mkdir(SHM)
    mount("none", "/dev", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC)


def _place_device(fd: int, path: str) -> None:
    status = os.fstat(fd)
    os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
    name = path.removeprefix("/dev/")
    if name in DEVICES and _has_made(path, DEVICES[name]):
        return
    if stat.S_ISDIR(status.st_mode):
        os.mkdir(path, 0o755)
    else:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))
    mount(f"/proc/self/fd/{fd}", path, None, MS_BIND | MS_REC)


def _has_made(path: str, number: tuple[int, int]) -> bool:
    """Make a device file, which only root outside of all user namespaces can."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(*number))
    except PermissionError:
        return False
    os.chmod(path, 0o666)  # noqa: PTH101, S103
    return True


class Proc:
    """What is done to every `/proc`, found out once."""

    def __init__(self) -> None:
        # What is mounted for a new PID namespace: source, target, kind, flags, options.
        self.mounts = tuple(_mounts_of_proc())

    def make(self) -> None:
        """Mount the `/proc` of a new PID namespace, in its first process."""
        for source, target, kind, flags, options in self.mounts:
            mount(source, target, kind or None, flags, options or None)


def _mounts_of_proc() -> Iterator[tuple[str, str, str, int, str]]:
    yield "proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, ""
    read_only = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC
    for path in _there(UNWRITABLE):
        yield path, path, "", MS_BIND, ""
        yield "none", path, "", read_only, ""
    for path in _there(UNREADABLE):
        yield os.devnull, path, "", MS_BIND, ""
    for path in _there(UNSEEN):
        yield "tmpfs", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=0,mode=555"


def _there(names: tuple[str, ...]) -> list[str]:
    """Name those of these entries of /proc that this kernel has."""
    return [f"/proc/{name}" for name in names if os.path.exists(f"/proc/{name}")]


def show_own_groups(groups: list[tuple[str, str]]) -> None:
    """Show a task its own control groups in place of everybody's; `(group, where its tree is mounted)`."""
    for group, top in groups:
        mount(group, top, None, MS_BIND)
    kernel.unshare(kernel.CLONE_NEWCGROUP)


def tops_of(places: list[str]) -> dict[str, str]:
    """Find where the trees of these groups are mounted."""
    tops = {}
    for place in places:
        top = place
        while not os.path.ismount(top) and top != "/":
            top = os.path.dirname(top)
        if top != "/":
            tops[place] = top
    return tops
