"""Collecting everything that is wrong with an input, each thing with its path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from footplate.domain.errors import InvalidInput, Problem

Json = Any
Schema = dict[str, Any]


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class Problems(list[Problem]):
    """Collects what is wrong while reading goes on."""

    def add(self, path: str, message: str) -> Any:
        self.append(Problem(path, message))
        return MISSING

    def raise_if_any(self) -> None:
        if self:
            raise InvalidInput(self)


def name_of(value: Json) -> str:
    """Say what kind of value somebody wrote, in the words of a job file."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "a yes/no value"
    for kind, word in ((str, "a text"), (int, "a number"), (float, "a number"), (Mapping, "a mapping")):
        if isinstance(value, kind):
            return word
    return "a list" if isinstance(value, Sequence) else type(value).__name__


def join(path: str, part: str | int) -> str:
    if isinstance(part, int):
        return f"{path}[{part}]"
    return f"{path}.{part}" if path else part


_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def is_writable(text: str) -> bool:
    """Tell whether a text can be stored and shown everywhere (no control characters, no lone surrogates)."""
    return _UNWRITABLE.search(text) is None


def shorten(text: str, length: int = 60) -> str:
    shown = text.encode("utf-8", "backslashreplace").decode()
    return shown if len(shown) <= length else shown[: length - 1] + "…"
