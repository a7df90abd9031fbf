"""What a task leaves on disk, and nothing else needs to be remembered: who runs it, and how it ended.

`pid` is written once, by whoever comes first: the process that becomes the task, or the one who stops
the task before it has started. `exit` holds the exit code.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

STOPPED_BY_TERM = 143
STOPPED_BY_KILL = 137


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
    # A file without its line end was being written when the writer was killed.
    if found is None or not found[0].endswith("\n"):
        return None
    return Exit(int(found[0]), found[1])


def fence(folder: Path) -> None:
    """Make sure that a task which has not started never will."""
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        (folder / "pid").touch(exist_ok=False)


def write_exit(folder: Path, code: int) -> None:
    """Record the exit code of a task that could not do so itself."""
    (folder / "exit").write_text(f"{code}\n")


def _read(path: Path) -> tuple[str, float] | None:
    try:
        with path.open() as file:
            return file.read(), os.fstat(file.fileno()).st_mtime
    except (FileNotFoundError, NotADirectoryError):
        return None


def _identity(text: str) -> Identity | None:
    words = text.split()
    return Identity(int(words[0]), int(words[1]), words[2]) if len(words) == 3 else None
