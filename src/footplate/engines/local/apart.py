"""Keeps the tasks of one person from looking into those of another, where all of them run as root.

Root may look into every process of its own user namespace. So the tasks of each person run in one of theirs,
in which every account means the same as outside: files look as ever, and only what root could do to the
machine itself is lost. Runs in the spawner and its children, like `mounting`.
"""

# Without pathlib this process starts sooner and stays smaller.
# ruff: noqa: PTH123
from __future__ import annotations

import os
import resource

from footplate.engines.local import mounting

# Tasks that run on keep a namespace that is forgotten here.
MOST_PEOPLE = 256


class Apart:
    """One user namespace a person, made when the first task of theirs starts."""

    def __init__(self) -> None:
        self._by_owner: dict[str, int] = {}

    def namespace_of(self, owner: str) -> int:
        """Open the namespace of a person's tasks."""
        if owner not in self._by_owner:
            if len(self._by_owner) >= MOST_PEOPLE:
                os.close(self._by_owner.pop(next(iter(self._by_owner))))
            self._by_owner[owner] = make_namespace()
        return self._by_owner[owner]


def make_namespace() -> int:
    """Make a user namespace in which all accounts are the same as here; return a descriptor of it."""
    told_fd, child_fd = os.pipe()
    waits_fd, go_fd = os.pipe()
    pid = os.fork()
    if pid == 0:
        _stand_in(child_fd, waits_fd, go_fd)
    os.close(child_fd)
    os.close(waits_fd)
    try:
        if not os.read(told_fd, 1):
            raise OSError("the kernel gives no user namespace")
        for kind in ("uid_map", "gid_map"):
            _write_same(pid, kind)
        return os.open(f"/proc/{pid}/ns/user", os.O_RDONLY)
    finally:
        os.close(told_fd)
        os.close(go_fd)


def _stand_in(child_fd: int, waits_fd: int, go_fd: int) -> None:
    """Be in a new namespace for as long as it takes to open it; never return."""
    try:
        os.close(go_fd)
        mounting.leave_user()
        os.write(child_fd, b"1")
        os.read(waits_fd, 1)
    finally:
        os._exit(0)


def _write_same(pid: int, kind: str) -> None:
    with open(f"/proc/self/{kind}") as file:
        ranges = [line.split() for line in file]
    with open(f"/proc/{pid}/{kind}", "w") as file:
        file.write("".join(f"{first} {first} {count}\n" for first, _, count in ranges))


def join(namespace_fd: int) -> None:
    """Enter a person's namespace for good, with no more of root's powers than tasks may have."""
    _unlock_memory()
    mounting.enter_namespace(namespace_fd)
    mounting.drop_powers()


def _unlock_memory() -> None:
    """Let tasks lock memory, by which network cards read it: a right of root's that is lost otherwise."""
    unlimited = resource.RLIM_INFINITY
    _, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    try:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (unlimited, unlimited))
    except ValueError:
        # A root whose own powers are fewer.
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (hard, hard))
