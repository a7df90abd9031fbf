"""Log files: written by the tasks themselves, byte for byte; read here by offset, line and time.

Beside each log lies an index of lines `TIME OFFSET`: at that time the log had that size. A log above its
cap loses its middle: the bytes are given back to the file system as a hole, so that every offset stays what
it was. A file of lines `START END` notes the holes; it is apart from the index, since every read needs it
and few logs have one.
"""

from __future__ import annotations

import ctypes
import os
import re
import stat
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path

from footplate.domain.layout import log_file, log_holes_file, log_index_file
from footplate.domain.resources import show_bytes
from footplate.taskfiles import unfollowed

BLOCK = 64 * 1024
# How far back the last lines are looked for.
MOST_TAIL_BYTES = 64 * 1024**2
_KEEP_SIZE, _PUNCH_HOLE = 1, 2
_PAGE = 4096
# Tasks can reach these files too: what is not ours to the letter, or beyond all measure, is not read.
MOST_PAIRS_BYTES = 64 * 1024**2
_PAIR = re.compile(r"^(\d{1,18}(?:\.\d{1,9})?) (\d{1,18})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of a log and the offset to go on from."""

    data: bytes
    next_offset: int


class LogFile:
    """The log of one task attempt; a missing file reads as empty."""

    def __init__(self, task_folder: Path) -> None:
        self.path = log_file(task_folder)
        self._index = log_index_file(task_folder)
        self._holes = log_holes_file(task_folder)

    @property
    def size(self) -> int:
        try:
            status = self.path.lstat()
        except OSError:
            return 0
        return status.st_size if stat.S_ISREG(status.st_mode) else 0

    def read(self, offset: int, limit: int) -> Piece:
        """Read on from an offset; a dropped part reads as one line that says so."""
        for start, end in self.holes():
            if start <= offset < end:
                marker = (
                    f"\n[{show_bytes(end - start)} of this log were dropped here: it grew beyond its cap]\n"
                )
                return Piece(marker.encode(), end)
            if offset < start:
                limit = min(limit, start - offset)
        try:
            with open(self.path, "rb", opener=unfollowed) as log:  # only this one takes an opener
                log.seek(offset)
                data = log.read(limit)
        except OSError:
            data = b""
        return Piece(data, offset + len(data))

    def holes(self) -> list[tuple[int, int]]:
        """The parts that were dropped."""
        return [(int(float(start)), int(end)) for start, end in _pairs(self._holes)]

    def offset_of_tail(self, n_lines: int) -> int:
        """Where the last lines begin; where they are too long, the earliest line within reach."""
        position = size = self.size
        found = line = 0
        with open(self.path if size else os.devnull, "rb", opener=unfollowed if size else None) as log:
            while position > 0 and size - position < MOST_TAIL_BYTES:
                step = min(BLOCK, position)
                log.seek(position - step)
                block = log.read(step)
                cut = len(block) - 1 if position == size and block.endswith(b"\n") else len(block)
                while (cut := block.rfind(b"\n", 0, cut)) >= 0:
                    found += 1
                    line = position - step + cut + 1
                    if found == n_lines:
                        return line
                position -= step
        return line if position and found else position

    def offset_since(self, at: float, started_at: float | None, finished_at: float | None) -> int:
        """The size that the log had at a moment, as far as it was sampled."""
        if started_at is not None and at <= started_at:
            return 0
        samples = [(float(sampled_at), int(size)) for sampled_at, size in _pairs(self._index)]
        if finished_at is not None:
            samples.append((finished_at, self.size))
        before = bisect_right(samples, (at, 2**63))
        return samples[before - 1][1] if before else 0

    def times(self, start: int, end: int, finished_at: float | None) -> list[tuple[float, int]]:
        """How a part of the log grew, as far as it was sampled: at each moment, how far the log had come."""
        samples = [(float(at), int(size)) for at, size in _pairs(self._index)]
        if finished_at is not None:
            samples = [*(sample for sample in samples if sample[0] < finished_at), (finished_at, self.size)]
        found = []
        for at, size in samples:
            if size > start:
                found.append((at, size))
            if size >= end:
                break
        return found

    def sample(self, at: float, size: int) -> None:
        """Note how large the log is now."""
        with open(self._index, "a", opener=unfollowed) as index:
            index.write(f"{at:.3f} {size}\n")

    def drop_middle(self, cap_bytes: int) -> bool:
        """Give back the middle of a log above its cap, a quarter of which the beginning keeps."""
        head = cap_bytes // 4 // _PAGE * _PAGE
        start = max([head, *(end for _, end in self.holes())])
        end = (self.size - (cap_bytes - head)) // _PAGE * _PAGE
        if end - start < _PAGE or not _punch(self.path, start, end - start):
            return False
        with open(self._holes, "a", opener=unfollowed) as holes:
            holes.write(f"{start} {end}\n")
        return True


def _pairs(path: Path) -> list[tuple[str, str]]:
    """The numbers of a file of two in each line; a missing file has none, a spoilt line is passed over."""
    try:
        with open(path, opener=unfollowed) as file:
            text = file.read(MOST_PAIRS_BYTES)
    except (OSError, UnicodeDecodeError):
        return []
    return _PAIR.findall(text)


def _punch(path: Path, start: int, length: int) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = unfollowed(str(path), os.O_WRONLY)
    try:
        done = libc.fallocate(
            descriptor, _KEEP_SIZE | _PUNCH_HOLE, ctypes.c_int64(start), ctypes.c_int64(length)
        )
        return bool(done == 0)
    finally:
        os.close(descriptor)


def fold_progress(text: str) -> str:
    """Keep of lines that were redrawn with carriage returns only what a terminal would show in the end."""
    return text if "\r" not in text else "\n".join(_fold(line) for line in text.split("\n"))


def _fold(line: str) -> str:
    shown = line.rstrip("\r")
    return shown.rpartition("\r")[2]
