"""Logs for clients that ask again and again without saying what they have: each gets only what is new."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

MOST_READERS = 10_000
# Who has not asked for so long begins anew: the tools ask every ten seconds.
FORGOTTEN_AFTER_S = 60.0
MOST_BYTES = 256 * 1024

# Reads on from an offset, and says where it ended.
ReadOn = Callable[[int], tuple[list[str], int]]


@dataclass(slots=True)
class _Reader:
    offset: int
    asked_at: float


@dataclass(slots=True)
class Topics:
    """Remembers how far each reader of each log is, as long as they go on reading."""

    _readers: OrderedDict[tuple[str, str, str], _Reader] = field(default_factory=OrderedDict)

    def read(self, reader: tuple[str, str, str], now: float, read_on: ReadOn) -> list[str]:
        """Give a reader (a person, an attempt and a task) what has come since they last asked."""
        known = self._readers.pop(reader, None)
        is_new = known is None or now - known.asked_at > FORGOTTEN_AFTER_S
        offset = 0 if is_new or known is None else known.offset
        lines, end = read_on(offset)
        self._readers[reader] = _Reader(end, now)
        while len(self._readers) > MOST_READERS:
            self._readers.popitem(last=False)
        return lines
