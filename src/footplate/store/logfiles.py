"""Log files: written by the tasks themselves, byte for byte; read here by offset, line and time.

Beside each log lies an index of lines `TIME OFFSET`: at that time the log had that size. A log above its
cap loses its middle: the bytes are given back to the file system as a hole, so that every offset stays what
it was. A file of lines `START END` notes the holes, one that grew anew as a whole; it is apart from the
index, since every read needs it and few logs have one.
"""

from __future__ import annotations

import ctypes
import os
import re
import stat
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from footplate.domain.mask import Mask
from footplate.domain.resources import show_bytes
from footplate.home.layout import log_file, log_holes_file, log_index_file
from footplate.machine.taskfiles import unfollowed

BLOCK = 64 * 1024
# How far back the last lines are looked for.
MOST_TAIL_BYTES = 64 * 1024**2
NO_MASK = Mask()
# The end of the last part: the log may grow beyond every other number.
ENDLESS = 2**62
_KEEP_SIZE, _PUNCH_HOLE = 1, 2
_PAGE = 4096
# Tasks can reach these files too: what is not ours to the letter is not read, nor more than the last of it.
MOST_INDEX_BYTES = 4 * 1024**2
MOST_HOLES_BYTES = BLOCK
# A reader of thousands of logs keeps the samples of many at once, and sends some with every message.
MOST_SAMPLES_KEPT = 10_000
MOST_TIMES = 1000
_PAIR = re.compile(rb"^(\d{1,18}(?:\.\d{1,9})?) (\d{1,18})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of a log and the offset to go on from; `n_held` more are there, but may be half of a secret."""

    data: bytes
    next_offset: int
    n_held: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a log that was dropped, or that was kept."""

    start: int
    end: int
    is_hole: bool = False


@dataclass(frozen=True, slots=True)
class Samples:
    """How a log grew, as far as it was looked at: at each moment, how far it had come; sizes only rise."""

    ats: Sequence[float]
    sizes: Sequence[int]

    def beyond(self, start: int) -> Samples:
        """The samples that a reader needs from an offset on."""
        return self._slice(bisect_right(self.sizes, start), len(self.sizes), MOST_SAMPLES_KEPT)

    def between(self, start: int, end: int, ended: tuple[float, int] | None) -> list[tuple[float, int]]:
        """How a part of the log grew; no later than its task ended, at which moment and size."""
        first = bisect_right(self.sizes, start)
        part = self._slice(first, bisect_left(self.sizes, end, lo=first) + 1, MOST_TIMES - 1)
        found = list(zip(part.ats, part.sizes, strict=True))
        if ended is None:
            return found
        found = [sample for sample in found if sample[0] < ended[0]]
        is_whole = bool(found) and found[-1][1] >= end
        return found if is_whole or ended[1] <= start else [*found, ended]

    def _slice(self, first: int, end: int, most: int) -> Samples:
        """Some samples in a row, evenly thinned out to so many; the last one always stays."""
        ats, sizes = self.ats[first:end], self.sizes[first:end]
        step = max(1, -(-len(sizes) // most))
        begin = (len(sizes) - 1) % step if sizes else 0
        return Samples(ats[begin::step], sizes[begin::step])


class LogFile:
    """The log of one task attempt; a missing file reads as empty. Whatever is read of it is masked."""

    def __init__(self, task_folder: Path, mask: Mask = NO_MASK) -> None:
        self.mask = mask
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

    @property
    def has_begun(self) -> bool:
        """Whether there is a place for it, in which it would be seen to grow."""
        return self.path.parent.is_dir()

    def read(self, offset: int, limit: int, is_growing: bool = False) -> Piece:
        """Read on from an offset; a dropped part reads as one line that says so.

        Of a log that `is_growing`, an end that may be the beginning of a secret is left for the next read.
        """
        around = self._around(offset)
        if around.is_hole:
            size = show_bytes(around.end - around.start)
            marker = f"\n[{size} of this log were dropped here: it grew beyond its cap]\n"
            return Piece(marker.encode(), around.end)
        holds = is_growing and around.end == ENDLESS
        data, is_last = self._read(offset, limit, around, may_go_on=holds)
        n_held = self.mask.n_unsure(data) if holds and is_last else 0
        shown = data[: len(data) - n_held]
        return Piece(shown, offset + len(shown), n_held)

    def read_bytes(self, offset: int, limit: int) -> bytes:
        """Read what lies in the file, or the beginning of it; a dropped part is zeros."""
        around = self._around(offset)
        if around.is_hole:
            return bytes(min(limit, around.end - offset))
        return self._read(offset, limit, around)[0]

    def last_bytes(self, most: int, since: int = 0) -> bytes:
        """Read the end of what came behind an offset, as the task wrote it."""
        return self._read_file(max(since, self.size - most), most)

    def _around(self, offset: int) -> Part:
        """The part of the log, dropped or kept, in which an offset lies."""
        kept_from = 0
        for start, end in self.holes():
            if offset < start:
                return Part(kept_from, start)
            if offset < end:
                return Part(start, end, is_hole=True)
            kept_from = end
        return Part(kept_from, ENDLESS)

    def _read(self, offset: int, limit: int, kept: Part, may_go_on: bool = False) -> tuple[bytes, bool]:
        """Masked bytes, and whether nothing follows them: a mask also looks at what lies around."""
        begin = max(kept.start, offset - self.mask.reach)
        end = min(kept.end, offset + limit + self.mask.reach)
        data = self._read_file(begin, end - begin)
        is_last = begin + len(data) < end or end == kept.end
        covered = self.mask.cover(
            data, cut_before=begin == kept.start > 0, cut_after=is_last and not may_go_on
        )
        wanted = covered[offset - begin :][:limit]
        return wanted, is_last and len(wanted) == len(covered) - (offset - begin)

    def _read_file(self, offset: int, limit: int) -> bytes:
        try:
            with open(self.path, "rb", opener=unfollowed) as log:  # only this one takes an opener
                log.seek(offset)
                return log.read(limit)
        except OSError:
            return b""

    def holes(self) -> list[tuple[int, int]]:
        """The parts that were dropped, in their order and apart from each other."""
        merged: list[tuple[int, int]] = []
        for start, end in sorted((int(start), end) for start, end in _pairs(self._holes, MOST_HOLES_BYTES)):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return merged

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
        if finished_at is not None and at >= finished_at:
            return self.size
        samples = self.samples()
        before = bisect_right(samples.ats, at)
        return samples.sizes[before - 1] if before else 0

    def samples(self) -> Samples:
        """How the log grew; of a very long index only the end, so that what is recent stays exact."""
        ats, sizes, largest = array("d"), array("q"), 0
        for at, size in _pairs(self._index, MOST_INDEX_BYTES):
            if size > largest:
                largest = size
                ats.append(at)
                sizes.append(size)
        return Samples(ats, sizes)

    def sample(self, at: float, size: int) -> None:
        """Note how large the log is now."""
        with open(self._index, "a", opener=unfollowed) as index:
            index.write(f"{at:.3f} {size}\n")

    def drop_middle(self, cap_bytes: int) -> bool:
        """Give back the middle of a log above its cap, a quarter of which the beginning keeps."""
        head = cap_bytes // 4 // _PAGE * _PAGE
        *_, (before, edge) = [(head, head), *self.holes()]
        start = max(head, edge)
        end = (self.size - (cap_bytes - head)) // _PAGE * _PAGE
        if end - start < _PAGE or not _punch(self.path, start, end - start):
            return False
        with open(self._holes, "a", opener=unfollowed) as holes:
            holes.write(f"{before if edge == start else start} {end}\n")
        return True


def _pairs(path: Path, most_bytes: int) -> Iterator[tuple[float, int]]:
    """The numbers of a file of two in each line; a missing file has none, a spoilt line is passed over."""
    try:
        with open(path, "rb", opener=unfollowed) as file:
            skipped = max(0, os.fstat(file.fileno()).st_size - most_bytes)
            # From the byte before: a line that is cut there is known as such.
            file.seek(max(0, skipped - 1))
            text = file.read(most_bytes + 1)
    except OSError:
        return
    for found in _PAIR.finditer(text, text.find(b"\n") + 1 if skipped else 0):
        yield float(found[1]), int(found[2])


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
