"""Claims a task for its container: the server records the process id of the container on the host.

The task itself claims `begun` from inside; the server's `pid` follows, and says when the task began.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Collection
from pathlib import Path

from footplate.engines.local.observe.records import Identity
from footplate.engines.local.process.processes import PROC, boot_id, marked, start_ticks

# Linux gives no process a higher number than 2**22.
BEYOND_PIDS = 2**22 + 1


def has_begun(folder: Path) -> bool:
    return (folder / "begun").exists()


def keep_from_beginning(folder: Path) -> bool:
    """Make sure that no container begins this task any more; False when one has."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        (folder / "begun").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def identify(pid: int) -> Identity | None:
    """Identify a container's first process by id and start time; None if there is no such process here."""
    ticks = start_ticks(pid)
    if ticks is None or _depth(pid) <= _depth(os.getpid()):
        return None
    return Identity(pid, ticks, boot_id())


def find(marks: Collection[str], container_id: str) -> Identity | None:
    """Find the first process of a container by its variables, where the engine has lost sight of it.

    An engine that dies while it starts a container takes it for one that was never started.
    """
    # Deeper ones are namespaces that the task itself has made.
    depth = _depth(os.getpid()) + 1
    for pid in marked(marks):
        numbers = _numbers(pid)
        if len(numbers) == depth and numbers[-1] == "1" and _is_of(pid, container_id):
            return identify(pid)
    return None


def _is_of(pid: int, container_id: str) -> bool:
    """Tell whether a process is in the control groups of a container; anybody can set variables."""
    try:
        return bool(container_id) and container_id in (PROC / str(pid) / "cgroup").read_text()
    except OSError:
        return False


def gone() -> Identity:
    """Return a placeholder for a process that ended before its id was known."""
    return Identity(BEYOND_PIDS, 0, boot_id())


def publish(folder: Path, identity: Identity) -> float | None:
    """Write the claim and say when the task began; None when there is a claim or a fence already."""
    draft = folder / f"pid.{uuid.uuid4().hex}"
    draft.write_text(f"{identity.pid} {identity.start_ticks} {identity.boot_id}\n")
    try:
        # Looked at only now: a task that begins from here on begins after the draft was written.
        with contextlib.suppress(FileNotFoundError):
            began_at_ns = (folder / "begun").stat().st_mtime_ns
            os.utime(draft, ns=(began_at_ns, began_at_ns))
        os.link(draft, folder / "pid")
        return draft.stat().st_mtime
    except FileExistsError:
        return None
    finally:
        draft.unlink()


def _depth(pid: int) -> int:
    """Count the process namespaces around a process, from here on."""
    return len(_numbers(pid))


def _numbers(pid: int) -> list[str]:
    """Read which number a process has in each of its namespaces, from here inwards."""
    try:
        status = (PROC / str(pid) / "status").read_text()
    except OSError:
        return []
    return next((line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:")), [])
