"""Identifiers that sort by time: eight characters of milliseconds, four of chance."""

from __future__ import annotations

import re

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_EPOCH_MS = 1_704_067_200_000  # 2024-01-01
_PATTERN = re.compile(f"[{_DIGITS}]{{12}}")


def job_id(at: float, chance: int, after: str = "") -> str:
    """Make an id from the time in seconds and a random number below 2**20; it sorts behind `after`."""
    number = ((int(at * 1000) - _EPOCH_MS) % 2**40 << 20) | chance % 2**20
    return _written(max(number, _read(after) + 1) if after else number)


def is_job_id(text: str) -> bool:
    return _PATTERN.fullmatch(text) is not None


def _written(number: int) -> str:
    text = ""
    for _ in range(12):
        number, digit = divmod(number, 32)
        text = _DIGITS[digit] + text
    return text


def _read(text: str) -> int:
    number = 0
    for character in text:
        number = number * 32 + _DIGITS.index(character)
    return number
