"""Lines of a job's logs page by page, forwards or backwards, over all its tasks in the order of time.

A page's cursor says how far each log was read, so that a page costs as much as it shows, however long the
logs are.
"""

from __future__ import annotations

import heapq
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

from footplate.domain.errors import InvalidInput
from footplate.domain.job import Job, Task
from footplate.domain.mask import Mask
from footplate.domain.rolefields import MAX_TASKS
from footplate.services.logs import log_of
from footplate.services.platform import Platform
from footplate.store.logfiles import BLOCK, LogFile

MOST_LINE = 64 * 1024
# So many lines are looked at for a page, where only few of them are wanted.
MOST_SEEN = 200_000
_CURSOR = re.compile(r"[ad](\.\d{1,5}=\d{1,18})*")


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line, when it was seen, and where in its task's log it begins and ends."""

    at: float
    task: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which lines of which tasks, by their places in the job."""

    tasks: Sequence[int]
    limit: int
    backwards: bool = False
    cursor: str = ""
    since: float | None = None
    until: float | None = None
    words: Sequence[str] = ()


def read(platform: Platform, job: Job, wanted: Wanted, mask: Mask) -> tuple[list[LogLine], str]:
    """Read a page, and say where the next begins; that is empty behind the last one."""
    logs = {place: log_of(platform, job, job.tasks[place].name, None, mask) for place in wanted.tasks}
    now = platform.clock.now()
    offsets = _offsets(wanted, logs)
    sources = [
        _timed(log, place, job.tasks[place], offsets[place], wanted, now) for place, log in logs.items()
    ]
    merged = heapq.merge(*sources, key=attrgetter("at"), reverse=wanted.backwards)
    found: list[LogLine] = []
    for n_seen, line in enumerate(merged):
        if len(found) == wanted.limit or n_seen == MOST_SEEN:
            return found, _cursor(wanted, offsets)
        offsets[line.task] = line.start if wanted.backwards else line.end
        if _is_wanted(line, wanted):
            found.append(line)
    return found, ""


def _is_wanted(line: LogLine, wanted: Wanted) -> bool:
    if wanted.since is not None and line.at < wanted.since:
        return False
    if wanted.until is not None and line.at > wanted.until:
        return False
    return all(word in line.text for word in wanted.words)


def _offsets(wanted: Wanted, logs: dict[int, LogFile]) -> dict[int, int]:
    begin = {place: log.size if wanted.backwards else 0 for place, log in logs.items()}
    if not wanted.cursor:
        return begin
    direction = "d" if wanted.backwards else "a"
    if not _CURSOR.fullmatch(wanted.cursor) or not wanted.cursor.startswith(direction):
        raise InvalidInput("not_log_cursor", "Context")
    pairs = [part.split("=") for part in wanted.cursor.split(".")[1:]]
    return begin | {
        int(place): int(offset) for place, offset in pairs if int(place) < MAX_TASKS and int(place) in begin
    }


def _cursor(wanted: Wanted, offsets: dict[int, int]) -> str:
    parts = (f".{place}={offset}" for place, offset in offsets.items())
    return ("d" if wanted.backwards else "a") + "".join(parts)


def _timed(
    log: LogFile, place: int, task: Task, offset: int, wanted: Wanted, now: float
) -> Iterator[LogLine]:
    samples = log.samples()
    last = task.finished_at or now

    def at(end: int) -> float:
        found = bisect_left(samples.sizes, end)
        return samples.ats[found] if found < len(samples.ats) else last

    lines = _backwards(log, offset) if wanted.backwards else _forwards(log, offset)
    for start, end, data in lines:
        text = data[:MOST_LINE].decode("utf-8", "replace").rstrip("\r")
        yield LogLine(at(end), place, text, start, end)


def _forwards(log: LogFile, offset: int) -> Iterator[tuple[int, int, bytes]]:
    size, rest, start = log.size, b"", offset
    while offset < size:
        piece = log.read(offset, min(BLOCK, size - offset))
        if not piece.data:
            break
        offset = piece.next_offset
        *whole, rest = (rest + piece.data).split(b"\n")
        for line in whole:
            end = min(start + len(line) + 1, offset)
            yield start, end, line
            start = end
        if len(rest) > MOST_LINE:
            yield start, offset, rest
            start, rest = offset, b""
    if rest:
        yield start, offset, rest


def _backwards(log: LogFile, end: int) -> Iterator[tuple[int, int, bytes]]:
    """Go through the lines that end before an offset, the last one first."""
    held, position = b"", end
    while position > 0:
        begin = max(0, position - BLOCK)
        held, position = _between(log.read_bytes, begin, position) + held, begin
        until = len(held)
        while (cut := held.rfind(b"\n", 0, max(0, until - 1))) >= 0:
            yield position + cut + 1, position + until, held[cut + 1 : until].removesuffix(b"\n")
            until = cut + 1
        held = held[:until]
        if len(held) > MOST_LINE:
            yield position, position + len(held), held.removesuffix(b"\n")
            held = b""
    if held:
        yield 0, len(held), held.removesuffix(b"\n")


def _between(read: Callable[[int, int], bytes], begin: int, end: int) -> bytes:
    parts = []
    while begin < end and (part := read(begin, end - begin)):
        parts.append(part)
        begin += len(part)
    return b"".join(parts)
