"""Searching a log for a text, block by block, however long it is."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.store.logfiles import LogFile

SEARCH_BLOCK_BYTES = 1024**2
# One call reads this much at most: the caller goes on from `next_offset`.
MOST_READ_BYTES = 128 * 1024**2


@dataclass(frozen=True, slots=True)
class Found:
    """Where the lines begin that hold a text, and where the search goes on; None at the end of the log."""

    lines: list[int]
    next_offset: int | None


def search(log: LogFile, text: str, offset: int, limit: int) -> Found:
    """Find lines from an offset on, at which a line begins, upper and lower case alike."""
    needle = text.encode().lower()
    found: list[int] = []
    end = offset + MOST_READ_BYTES
    while offset < end:
        piece = log.read(offset, SEARCH_BLOCK_BYTES)
        if not piece.data:
            return Found(found, None)
        whole = _whole_lines(piece.data, is_last=piece.next_offset >= log.size)
        for start in _matches(whole.lower(), needle):
            found.append(offset + start)
            if len(found) == limit:
                after = whole.find(b"\n", start) + 1
                return Found(found, offset + (after or len(whole)))
        offset = piece.next_offset - len(piece.data) + len(whole)
    return Found(found, offset)


def search_up(log: LogFile, text: str, before: int, limit: int) -> Found:
    """Find lines that begin before an offset, the last one first; it goes on before `next_offset`."""
    needle = text.encode().lower()
    found: list[int] = []
    before = min(before, log.size)
    end = before - MOST_READ_BYTES
    while before > max(0, end) and len(found) < limit:
        begin, data = _block_before(log, before)
        found.extend(begin + start for start in reversed(_matches(data.lower(), needle)))
        before = begin
    if len(found) >= limit:
        found, before = found[:limit], found[limit - 1]
    return Found(found, before or None)


def _block_before(log: LogFile, end: int) -> tuple[int, bytes]:
    """Whole lines up to an offset, and where they begin; a dropped part is passed over."""
    start = max(0, end - SEARCH_BLOCK_BYTES)
    is_cut = start > 0
    for hole_start, hole_end in log.holes():
        if hole_start < end <= hole_end:
            return hole_start, b""
        if start <= hole_end < end:
            start, is_cut = hole_end, False
    data = log.read(start, end - start).data
    cut = data.find(b"\n") + 1 if is_cut else 0
    # A line longer than a block has no beginning in it: it is taken as it is.
    return (start + cut, data[cut:]) if cut < len(data) else (start, data)


def _whole_lines(data: bytes, is_last: bool) -> bytes:
    """Leave a line that was cut off to the next block, unless none follows or it is endless."""
    cut = data.rfind(b"\n") + 1
    return data if is_last or not cut else data[:cut]


def _matches(block: bytes, needle: bytes) -> list[int]:
    """The beginning of every line that holds the needle, once each."""
    starts, at = [], block.find(needle)
    while at >= 0:
        starts.append(block.rfind(b"\n", 0, at) + 1)
        following = block.find(b"\n", at)
        at = -1 if following < 0 else block.find(needle, following)
    return starts
