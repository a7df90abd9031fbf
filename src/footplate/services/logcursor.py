"""Where a broken-off log stream goes on, as a short text that every message carries."""

from __future__ import annotations

from dataclasses import dataclass, field

from footplate.domain.errors import InvalidInput
from footplate.domain.rolefields import MAX_TASKS


@dataclass(slots=True)
class Cursor:
    """Where a broken-off stream goes on: attempt, last event, and how far each task's log was sent.

    Every message carries one, so it is short: tasks go by their place in the job, and those of a past
    attempt whose log was sent whole are one bit each.
    """

    attempt: int
    seq: int = 0
    offsets: dict[int, int] = field(default_factory=dict)
    whole: int = 0
    _shown: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._shown = {place: f"{place}={offset}" for place, offset in self.offsets.items()}

    def advance(self, place: int, offset: int) -> None:
        if offset:
            self.offsets[place] = offset
            self._shown[place] = f"{place}={offset}"

    def complete(self, place: int) -> None:
        self.whole |= 1 << place
        self.offsets.pop(place, None)
        self._shown.pop(place, None)

    def is_whole(self, place: int) -> bool:
        return bool(self.whole >> place & 1)

    def __str__(self) -> str:
        whole = f"|{self.whole:x}" if self.whole else ""
        return f"{self.attempt}|{self.seq}|{','.join(self._shown.values())}{whole}"

    @staticmethod
    def read(text: str) -> Cursor:
        try:
            attempt, seq, offsets, *rest = text.split("|")
            pairs = (pair.partition("=") for pair in offsets.split(",") if pair)
            numbers = {_number(place, MAX_TASKS): _number(offset) for place, _, offset in pairs}
            (whole,) = rest or ["0"]
            return Cursor(_number(attempt), _number(seq), numbers, _bits(whole))
        except ValueError as error:
            raise InvalidInput("not_log_cursor", "Last-Event-ID") from error


def _number(text: str, end: int = 2**60) -> int:
    number = int(text)
    if not 0 <= number < end:
        raise ValueError("counts of attempts, events and bytes are never like that")
    return number


def _bits(text: str) -> int:
    bits = int(text, 16)
    if not 0 <= bits < 1 << MAX_TASKS:
        raise ValueError("there are never so many tasks")
    return bits
