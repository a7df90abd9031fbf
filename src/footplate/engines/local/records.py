"""What a task leaves on disk, and nothing else needs to be remembered: who runs it, and how it ended.

`pid` is written once, by whoever comes first: the process that becomes the task, or the one who stops
the task before it has started. `exit` holds the exit code.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

STOPPED_BY_TERM = 143
STOPPED_BY_KILL = 137
MOST_BYTES = 256


@dataclass(frozen=True, slots=True)
class Identity:
    """A process that no other process can be mistaken for."""

    pid: int
    start_ticks: int
    boot_id: str


@dataclass(frozen=True, slots=True)
class Claim:
    """Who took the task and when; nobody (None) when it was stopped before it started."""

    identity: Identity | None
    at: float


@dataclass(frozen=True, slots=True)
class Exit:
    code: int
    at: float


def read_claim(folder: Path) -> Claim | None:
    found = _read(folder / "pid")
    return Claim(_identity(found[0]), found[1]) if found else None


def read_exit(folder: Path) -> Exit | None:
    found = _read(folder / "exit")
    # A file without its line end was being written when the writer was killed; anything else is spoilt.
    if found is None or not re.fullmatch(r"\d{1,3}\n", found[0]):
        return None
    return Exit(int(found[0]), found[1])


def fence(folder: Path) -> None:
    """Make sure that a task which has not started never will."""
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        (folder / "pid").touch(exist_ok=False)


def write_exit(folder: Path, code: int) -> None:
    """Record the exit code of a task that could not do so itself, where the task has left a way to."""
    with contextlib.suppress(OSError):
        (folder / "exit").write_text(f"{code}\n")


# Tasks can reach these files. One that was spoilt counts as absent: the task is then lost, nothing worse.
SPOILT = (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError, UnicodeDecodeError)


def _read(path: Path) -> tuple[str, float] | None:
    try:
        with path.open() as file:
            return file.read(MOST_BYTES), os.fstat(file.fileno()).st_mtime
    except SPOILT:
        return None


def _identity(text: str) -> Identity | None:
    match = re.fullmatch(r"(\d{1,10}) (\d{1,20}) (\S+)\n", text)
    return Identity(int(match[1]), int(match[2]), match[3]) if match else None
