"""Processes as the kernel shows them: who is alive, who descends from whom, who carries a mark."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

from footplate.engines.local.observe.records import Identity

PROC = Path("/proc")
KILL_EVERY_S = 0.02
MARKED_WITHIN_S, ENTERED_WITHIN_S = 3, 0.5
GONE = (ProcessLookupError, FileNotFoundError)


@cache
def boot_id() -> str:
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()


def open_process(identity: Identity) -> int | None:
    """Open a descriptor that becomes readable when the process ends; None when it has ended."""
    if identity.boot_id != boot_id():
        return None
    try:
        fd = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return None
    # Compared after opening: from here on the number cannot pass to another process unnoticed.
    if start_ticks(identity.pid) == identity.start_ticks and not has_ended(fd):
        return fd
    os.close(fd)
    return None


def has_ended(pidfd: int) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(0))


def start_ticks(pid: int) -> int | None:
    words = _status(pid)
    return int(words[19]) if words else None


def is_alive(pid: int, ticks: int) -> bool:
    """Tell whether a process is there that began then; one that has ended and nobody reaped is not."""
    words = _status(pid)
    return bool(words) and words[0] not in (b"Z", b"X") and int(words[19]) == ticks


def _status(pid: int) -> list[bytes]:
    """Read the words that follow the name of a process in its `stat`; none when it is gone."""
    # Not by pathlib: every start and every end of a task asks.
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except GONE:
        return []
    try:
        return os.read(fd, 4096).rpartition(b")")[2].split()
    except GONE:
        return []
    finally:
        os.close(fd)


def children(pid: int) -> list[int]:
    """List the children of all threads of a process, dead ones that nobody has reaped included."""
    found: list[int] = []
    with contextlib.suppress(*GONE):
        for thread in (PROC / str(pid) / "task").iterdir():
            with contextlib.suppress(*GONE):
                found += map(int, (thread / "children").read_text().split())
    return found


def descendants(pid: int) -> list[int]:
    found = children(pid)
    for child in found:
        found += children(child)
    return found


def ask_to_end(shim: int) -> bool:
    """Send SIGTERM to a task's whole tree; False when its command has not begun yet."""
    tree = descendants(shim)
    if not tree:
        # The shim itself may not be ready for a signal either.
        return False
    has_begun = not _is_copy(tree[0], shim)
    # First of all the shim, so that it lets the others use their grace when the command ends early.
    send(shim, signal.SIGTERM)
    targets = {_target(pid) for pid in tree}
    for number in (signal.SIGTERM, signal.SIGCONT):
        for target in targets:
            send(target, number)
    return has_begun


def _is_copy(child: int, parent: int) -> bool:
    """Tell whether a child still is its parent's program, whose traps would swallow a signal."""
    return _command_line(child) == _command_line(parent)


def _command_line(pid: int) -> bytes:
    try:
        return (PROC / str(pid) / "cmdline").read_bytes()
    except GONE:
        return b""


def _target(pid: int) -> int:
    """Say whom to signal: a process's group, which misses no newborn. The shim may be in it, and traps it."""
    try:
        group = os.getpgid(pid)
    except ProcessLookupError:
        return pid
    return pid if group in (0, 1) else -group


def kill_tree(shim: int) -> None:
    """Send SIGKILL to all that descends from the shim; the shim stays, to record the exit code."""
    kill_all(descendants(shim))
    send(shim, signal.SIGCONT)


def kill_all(pids: Collection[int]) -> None:
    """Send SIGKILL to processes, none of which goes on meanwhile because another has ended."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            send(pid, number)


def send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def marked(marks: Collection[str]) -> Iterator[int]:
    """Find the processes that were started with all these `NAME=value` in their environment."""
    wanted = {mark.encode() for mark in marks}
    for folder in PROC.iterdir():
        if folder.name.isdigit() and wanted <= environment_of(int(folder.name)):
            yield int(folder.name)


def environment_of(pid: int) -> set[bytes]:
    try:
        return set((PROC / str(pid) / "environ").read_bytes().split(b"\0"))
    except (*GONE, PermissionError):
        return set()


def is_foreign(identity: Identity, marks: Collection[str]) -> bool:
    """Tell whether a living process was surely not started with these marks, whatever a record says.

    One that is about to become its program takes a moment to have them. A process of somebody else, which
    cannot be looked into, cannot be harmed either.
    """
    wanted, began_at = {mark.encode() for mark in marks}, time.monotonic()
    while is_alive(identity.pid, identity.start_ticks):
        try:
            found = (PROC / str(identity.pid) / "environ").read_bytes().split(b"\0")
        except (*GONE, PermissionError):
            return False
        if wanted.issubset(found):
            return False
        # A child of the spawner has no variables at all until then; a container's has its engine's.
        if time.monotonic() - began_at > (MARKED_WITHIN_S if not any(found) else ENTERED_WITHIN_S):
            return True
        time.sleep(KILL_EVERY_S)
    return False


def kill_marked(marks: Collection[str], for_s: float) -> bool:
    """Send SIGKILL to every process with these marks until none is left; False when some resist."""
    give_up_at = time.monotonic() + for_s
    while left := list(marked(marks)):
        for pid in left:
            send(pid, signal.SIGKILL)
        if time.monotonic() > give_up_at:
            return False
        time.sleep(KILL_EVERY_S)
    return True
