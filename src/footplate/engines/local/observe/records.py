"""The records of a task on disk, all that a later server needs: its process, and how it ended.

`pid` is written once, by whoever comes first: the process that becomes the task, or the one who stops
the task before it has started. `exit` has an empty line from the start; the next one is the exit code. Then
comes what the task's control groups counted, as `FILE TEXT`, each the words of one line of a file of the
group, and the lines that a shell's `times` prints.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from footplate.machine.taskfiles import LEVELS, Spoilt, open_folder, unfollowed, unfollowed_in

# What a record says, and when it was written; None where there is none.
Record = tuple[str, float] | None

STOPPED_BY_TERM = 143
STOPPED_BY_KILL = 137
MOST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Identity:
    """A process that no other process can be mistaken for."""

    pid: int
    start_ticks: int
    boot_id: str


@dataclass(frozen=True, slots=True)
class Claim:
    """Which process claimed the task and when; None if it was stopped before it started."""

    identity: Identity | None
    at: float


@dataclass(frozen=True, slots=True)
class Exit:
    """How a task ended; what was not counted is None."""

    code: int
    at: float
    n_oom_kills: int = 0
    limit_bytes: int | None = None
    peak_bytes: int | None = None
    cpu_s: float | None = None


def read_claim(folder: Path) -> Claim | None:
    return _claim(*_read(folder, "pid"))


def read_exit(folder: Path) -> Exit | None:
    return _exit(*_read(folder, "exit"))


def read_both(folder: Path) -> tuple[Claim | None, Exit | None]:
    claimed, ended = _read(folder, "pid", "exit")
    return _claim(claimed), _exit(ended)


def _claim(found: Record) -> Claim | None:
    return Claim(_identity(found[0]), found[1]) if found else None


def _exit(found: Record) -> Exit | None:
    code, line_end, rest = found[0].lstrip("\n").partition("\n") if found else ("", "", "")
    # A file without its line end was being written when the writer was killed; anything else is spoilt.
    if found is None or not line_end or not re.fullmatch(r"\d{1,3}", code):
        return None
    return Exit(int(code), found[1], *read_counts(rest), _cpu_s(_counted(rest), rest))


def _counted(text: str) -> dict[str, int]:
    """Read `memory.peak 123` by the file's name and `memory.events oom_kill 1` by the name in the line."""
    lines = (line.split() for line in text.splitlines())
    return {words[-2]: int(words[-1]) for words in lines if len(words) in (2, 3) and words[-1].isdecimal()}


def _cpu_s(counted: Mapping[str, int], text: str) -> float | None:
    """Take it from the groups, or from the last line of `times`: a shell's children as user and as system."""
    if "cpuacct.usage" in counted:
        return counted["cpuacct.usage"] / 1e9
    if "usage_usec" in counted:
        return counted["usage_usec"] / 1e6
    times = re.findall(r"^(\d+)m([\d.]+)s (\d+)m([\d.]+)s$", text, re.MULTILINE)
    if len(times) < 2:
        return None
    minutes, seconds, system_minutes, system_seconds = map(float, times[-1])
    return 60 * (minutes + system_minutes) + seconds + system_seconds


def read_counts(text: str) -> tuple[int, int | None, int | None]:
    """Read from what groups counted: processes killed for want of memory, the limit, the peak."""
    counted = _counted(text)
    return (
        counted.get("oom_kill", 0),
        counted.get("memory.limit_in_bytes", counted.get("memory.max")),
        counted.get("memory.max_usage_in_bytes", counted.get("memory.peak")),
    )


def add_to_exit(folder: Path, text: str) -> None:
    """Add what groups counted to the record of an end, before they are removed."""
    with contextlib.suppress(OSError), open(folder / "exit", "a", opener=unfollowed) as file:
        file.write(text)


def fence(folder: Path) -> None:
    """Make sure that a task which has not started never will."""
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        (folder / "pid").touch(exist_ok=False)


def write_exit(folder: Path, code: int) -> None:
    """Record the exit code of a task that could not do so itself, where the task has left a way to."""
    write_record(folder, f"{code}\n")


def write_record(folder: Path, text: str) -> None:
    with contextlib.suppress(OSError), open(folder / "exit", "w", opener=unfollowed) as file:
        file.write(text)


# Tasks can reach these files. One that was spoilt counts as absent: the task is then lost, nothing worse.
SPOILT = (FileNotFoundError, Spoilt, PermissionError, UnicodeDecodeError)


def _read(folder: Path, *names: str) -> list[Record]:
    """Read records of one folder: what each says, and when it was written."""
    # With bare descriptors, and the way to the folder walked once: every end of a task is read like this.
    try:
        folder_fd = open_folder(str(folder), LEVELS - 1)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return [None] * len(names)
    try:
        return [_read_in(folder_fd, name) for name in names]
    finally:
        os.close(folder_fd)


def _read_in(folder_fd: int, name: str) -> Record:
    try:
        fd = unfollowed_in(folder_fd, name, os.O_RDONLY)
        try:
            return os.read(fd, MOST_BYTES).decode(), os.fstat(fd).st_mtime
        finally:
            os.close(fd)
    except SPOILT:
        return None


def _identity(text: str) -> Identity | None:
    match = re.fullmatch(r"(\d{1,10}) (\d{1,20}) (\S+)\n", text)
    return Identity(int(match[1]), int(match[2]), match[3]) if match else None
