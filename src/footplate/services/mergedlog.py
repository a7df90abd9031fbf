"""The logs of all tasks in one file: lines in the order in which they were printed, each with its task."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from operator import itemgetter

from footplate.store.logfiles import BLOCK, LogFile

CHUNK_BYTES = 256 * 1024
# A gang may have thousands of logs, a piece of each of which is held at once.
MOST_HELD_BYTES = 16 * 1024**2
LEAST_READ_BYTES = 4096
# A log without line ends must not be held whole.
MOST_OF_A_LINE = 1024**2


def merge(logs: Mapping[str, LogFile]) -> Iterator[bytes]:
    """Yield the lines of several logs, as far as they have come by now, ordered by when they were seen."""
    width = max(map(len, logs))
    n_bytes = max(LEAST_READ_BYTES, min(BLOCK, MOST_HELD_BYTES // len(logs)))
    timed = [_timed(f"{name:<{width}}  ".encode(), log, n_bytes) for name, log in logs.items()]
    chunk = bytearray()
    for _, line in heapq.merge(*timed, key=itemgetter(0)):
        chunk += line
        if len(chunk) >= CHUNK_BYTES:
            yield bytes(chunk)
            chunk.clear()
    if chunk:
        yield bytes(chunk)


def _timed(prefix: bytes, log: LogFile, n_bytes: int) -> Iterator[tuple[float, bytes]]:
    samples = log.samples().beyond(0)
    for end, line in _lines(log, n_bytes):
        place = bisect_left(samples.sizes, end)
        at = samples.ats[place] if place < len(samples.ats) else float("inf")
        yield at, prefix + line + b"\n"


def _lines(log: LogFile, n_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Go through a log's lines, each with the offset at which it ends."""
    offset, size, rest = 0, log.size, b""
    while offset < size:
        piece = log.read(offset, min(n_bytes, size - offset))
        if not piece.data:
            break
        end = offset - len(rest)
        offset = piece.next_offset
        *whole, rest = (rest + piece.data).split(b"\n")
        for line in whole:
            end += len(line) + 1
            # What stands for a dropped part is longer or shorter than the part.
            yield min(end, offset), line
        if len(rest) > MOST_OF_A_LINE:
            yield offset, rest
            rest = b""
    if rest:
        yield offset, rest
