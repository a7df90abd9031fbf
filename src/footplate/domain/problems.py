"""Collecting everything that is wrong with an input, each thing with its path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from footplate.domain.errors import InvalidInput, Problem, problem
from footplate.domain.messages import Message

Json = Any
Schema = dict[str, Any]


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class Problems(list[Problem]):
    """Collects what is wrong while reading goes on."""

    def add(self, path: str, code: str | Message, /, **params: Any) -> Any:
        self.append(problem(path, code, **params))
        return MISSING

    def raise_if_any(self) -> None:
        if self:
            raise InvalidInput(self)


def name_of(value: Json) -> str:
    """Name the kind of value that somebody wrote, for messages."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "flag"
    for kind, word in ((str, "text"), (int, "number"), (float, "number"), (Mapping, "mapping")):
        if isinstance(value, kind):
            return word
    return "list" if isinstance(value, Sequence) else type(value).__name__


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
