"""Covers secret values in output, byte for byte, so that every offset stays what it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from footplate.domain.redact import SHORTEST, joined, needles

_STAR = b"*"


class Mask:
    """Finds values, and lines of values that have several, and writes as many stars over them."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        texts = {needle.strip() for needle in needles(values)}
        self._needles = [
            (data, _period(data)) for data in (text.encode() for text in texts if len(text) >= SHORTEST)
        ]
        # How many bytes before and after a part must be known to tell what of it belongs to a value.
        self.reach = max((len(data) for data, _ in self._needles), default=1) - 1

    def __bool__(self) -> bool:
        return bool(self._needles)

    def cover(self, data: bytes, cut_before: bool = False, cut_after: bool = False) -> bytes:
        """Cover every value; at an end where bytes are missing also what is left of one there."""
        spans = [span for needle, period in self._needles for span in _places(data, needle, period)]
        spans += self._torn(data, cut_before, cut_after)
        if not spans:
            return data
        covered = bytearray(data)
        for begin, end in joined(sorted(spans)):
            covered[begin:end] = _STAR * (end - begin)
        return bytes(covered)

    def n_unsure(self, data: bytes) -> int:
        """How many bytes at the end may become a value with those that follow."""
        return max((_overlap(data, needle, 1) for needle, _ in self._needles), default=0)

    def _torn(self, data: bytes, cut_before: bool, cut_after: bool) -> Iterator[tuple[int, int]]:
        for needle, _ in self._needles:
            if cut_after and (n := _overlap(data, needle, SHORTEST)):
                yield len(data) - n, len(data)
            if cut_before and (n := _overlap(needle, data, SHORTEST)):
                yield 0, n


def _places(data: bytes, needle: bytes, period: int) -> Iterator[tuple[int, int]]:
    at = data.find(needle)
    while at >= 0:
        yield at, at + len(needle)
        at = data.find(needle, at + period)


def _period(needle: bytes) -> int:
    """How far apart two overlapping occurrences are at least."""
    return len(needle) - _overlap(needle, needle, 1)


def _overlap(data: bytes, following: bytes, least: int) -> int:
    """How many bytes at the end of some data begin other data, which is not there as a whole."""
    tail = data[-(len(following) - 1) :] if len(following) > 1 else b""
    at = tail.find(following[:least])
    while at >= 0:
        if following.startswith(tail[at:]):
            return len(tail) - at
        at = tail.find(following[:least], at + 1)
    return 0
