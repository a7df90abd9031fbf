"""Control groups: the kernel enforces the limits of tasks with them, and counts their usage.

Every task has a group in each tree, named after the process that claimed the task (`PID-START_TICKS`):
whoever finds a group can tell whether its task still runs, and a name never comes twice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

# The kernel's own default, never written in v1.
PERIOD_US = 100_000
# The kernel refuses quotas below.
LEAST_QUOTA_US = 1000


@dataclass(frozen=True, slots=True)
class Need:
    """The limits of one task."""

    milli_cpus: int
    memory_bytes: int
    n_processes: int
    denied_devices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """Where the groups of one server are: a folder for each controller, the same for all of them in v2."""

    version: int
    folders: Mapping[str, str]
    bounds_swap: bool = False

    @property
    def places(self) -> tuple[str, ...]:
        """The folders without doubles."""
        return tuple(dict.fromkeys(self.folders.values()))

    def order(self, need: Need) -> list[list[Any]]:
        """Say which groups to make for a task: `[folder, [[file, text], ...]]` each."""
        settings: dict[str, list[list[str]]] = {place: [] for place in self.places}
        for controller, pairs in _limits(self, need).items():
            if controller in self.folders:
                settings[self.folders[controller]] += [list(pair) for pair in pairs]
        if not need.denied_devices:
            # Each group costs time at every start: one that would forbid nothing is left out.
            settings.pop(self.folders.get("devices", ""), None)
        return [[place, pairs] for place, pairs in settings.items()]

    def counters(self) -> list[tuple[str, str]]:
        """Name the files that say what befell a task: the folder of its group's tree, and the file."""
        known = ((self.folders.get(controller), file) for controller, file in _COUNTERS[self.version])
        return [(folder, file) for folder, file in known if folder]

    def counted(self, name: str) -> str:
        """Read what a task has used and what befell it, as lines of `FILE TEXT`; empty without its group."""
        lines = []
        for folder, file in self.counters():
            text = read_text(f"{folder}/{name}/{file}")
            lines += [f"{file} {line}\n" for line in text.splitlines()]
        return "".join(lines)

    def file(self, controller: str, name: str, file: str) -> str | None:
        folder = self.folders.get(controller)
        return f"{folder}/{name}/{file}" if folder else None


_COUNTERS = {
    1: (
        ("memory", "memory.limit_in_bytes"),
        ("memory", "memory.max_usage_in_bytes"),
        ("memory", "memory.oom_control"),
    ),
    2: (
        ("memory", "memory.max"),
        ("memory", "memory.peak"),
        ("memory", "memory.events"),
    ),
}


def _limits(tree: Tree, need: Need) -> dict[str, list[tuple[str, str]]]:
    quota_us = max(LEAST_QUOTA_US, need.milli_cpus * PERIOD_US // 1000)
    memory = str(need.memory_bytes)
    pids = [("pids.max", str(need.n_processes))]
    if tree.version == 2:
        swap = [("memory.swap.max", "0")] if tree.bounds_swap else []
        return {
            "cpu": [("cpu.max", f"{quota_us} {PERIOD_US}")],
            "memory": [("memory.max", memory), *swap],
            "pids": pids,
        }
    swap = [("memory.memsw.limit_in_bytes", memory)] if tree.bounds_swap else []
    return {
        "cpu": [("cpu.cfs_quota_us", str(quota_us))],
        "memory": [("memory.limit_in_bytes", memory), *swap],
        "pids": pids,
        "devices": [("devices.deny", rule) for rule in need.denied_devices],
    }


def members(trees: Iterable[Tree], name: str) -> set[int]:
    """List the processes in a task's groups."""
    found: set[int] = set()
    for tree in trees:
        for place in tree.places:
            found.update(map(int, read_text(f"{place}/{name}/cgroup.procs").split()))
    return found


def list_members(tree: Tree, name: str) -> list[int] | None:
    """List the processes in one of a task's groups: they enter all of them together. None without any."""
    for controller in ("pids", "memory", "cpu"):
        if path := tree.file(controller, name, "cgroup.procs"):
            return [int(pid) for pid in read_text(path).split()]
    return None


def forbid_forks(trees: Iterable[Tree], name: str) -> None:
    """Keep a group that is being killed from growing meanwhile."""
    for tree in trees:
        if path := tree.file("pids", name, "pids.max"):
            with suppress(OSError):
                write_text(path, "0")


def kill_at_once(trees: Iterable[Tree], name: str) -> None:
    """Have the kernel end all that is in a group, where it can."""
    for tree in trees:
        if tree.version == 2:
            for place in tree.places:
                with suppress(OSError):
                    write_text(f"{place}/{name}/cgroup.kill", "1")


def remove(trees: Iterable[Tree], name: str) -> bool:
    """Remove a task's groups; False when something is still in one of them."""
    is_gone = True
    for tree in trees:
        for place in tree.places:
            try:
                os.rmdir(f"{place}/{name}")  # noqa: PTH106  # a thousand of these a second
            except FileNotFoundError:
                continue
            except OSError:
                is_gone = False
    return is_gone


def names(trees: Iterable[Tree]) -> Iterator[str]:
    """List the groups that there are."""
    found: set[str] = set()
    for place in {place for tree in trees for place in tree.places}:
        with suppress(OSError):
            found.update(entry.name for entry in os.scandir(place) if entry.is_dir())
    yield from found


def owner_of(name: str) -> tuple[int, int] | None:
    """Say which process a group is named after: its number and its start."""
    match = re.fullmatch(r"(?:server\.\w+\.)?(\d+)-(\d+)", name)
    return (int(match[1]), int(match[2])) if match else None


def is_task(name: str) -> bool:
    """Tell the group of a task from one by which a server holds the place."""
    return not name.startswith("server.") and owner_of(name) is not None


def read_text(path: str) -> str:
    """Read a small file of a group; empty when it is not there."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(fd, 1 << 16).decode(errors="replace")
    except OSError:
        return ""
    finally:
        os.close(fd)


def write_text(path: str, text: str) -> None:
    """Write to a file of a group; never makes one."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
