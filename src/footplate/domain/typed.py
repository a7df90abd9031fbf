"""Words as they were typed: a plain word of a document means what its field takes it for.

`0042`, `1.10`, `yes` or `null` say nothing about their type: they are texts where a field holds a text, and
numbers, flags or nothing where it holds one of these. JSON has types, and only the text of its numbers is
kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from footplate.domain.errors import InvalidInput
from footplate.domain.fields import Kind, ListOf, MapOf, Nullable, Record
from footplate.domain.problems import Json

Value = None | bool | int | float


@dataclass(frozen=True, slots=True)
class Typed:
    """A word without quotes: its text, what it is by itself, and why it is nothing by itself if it is not."""

    text: str
    value: Value = None
    fault: InvalidInput | None = None

    @property
    def is_nothing(self) -> bool:
        return self.value is None and self.fault is None


@runtime_checkable
class KeepsWords(Protocol):
    """A kind of field that may hold a word as it was typed."""

    def keep(self, text: str, value: Value) -> Json: ...


def settle(given: Json, kind: Kind | None) -> Json:
    """Give every typed word of a document the meaning that its field has for it."""
    if isinstance(given, Typed):
        return _settle_word(given, kind)
    if isinstance(kind, Nullable):
        return settle(given, kind.kind)
    if isinstance(given, dict):
        return {name: _settle_entry(item, kind, name) for name, item in given.items()}
    if isinstance(given, list):
        inner = kind.kind if isinstance(kind, ListOf) else None
        return [settle(item, inner) for item in given]
    return given


def _settle_entry(item: Json, kind: Kind | None, name: str) -> Json:
    if isinstance(kind, MapOf):
        return settle(item, kind.kind)
    if isinstance(kind, Record):
        # A field that is left empty, or said to be null, is one that is not given.
        return None if isinstance(item, Typed) and item.is_nothing else settle(item, kind.kind_of(name))
    return settle(item, None)


def _settle_word(word: Typed, kind: Kind | None) -> Json:
    if isinstance(kind, Record) and kind.short and not word.is_nothing:
        return _settle_word(word, kind.kind_of(kind.short))
    if isinstance(kind, Nullable):
        return None if word.is_nothing else _settle_word(word, kind.kind)
    if isinstance(kind, KeepsWords) and word.text:
        return kind.keep(word.text, word.value)
    if word.fault is not None:
        raise word.fault
    return word.value
