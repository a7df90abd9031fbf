"""Putting a message into words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from footplate.domain.messages.formats import CHINESE, ENGLISH, Clock, Formats, moment, number
from footplate.domain.messages.message import TEXT, Message, Params, is_message
from footplate.domain.messages.template import Optional, Part, Slot, parse
from footplate.domain.resources import show_bytes


@dataclass(frozen=True, slots=True)
class Language:
    """A table of sentences, one of words for what parameters name, and how numbers are written."""

    sentences: Mapping[str, str]
    words: Mapping[str, Mapping[str, str]]
    formats: Formats


_FORMATS = {"en": ENGLISH, "zh": CHINESE}
_PACKAGES = {"en": "english", "zh": "chinese"}
LANGUAGES = tuple(_PACKAGES)


@cache
def language(name: str) -> Language:
    """The tables of a language; they are read when the first sentence is told in it."""
    package = import_module(f"footplate.domain.messages.{_PACKAGES[name]}")
    return Language(package.SENTENCES, package.WORDS, _FORMATS[name])


def render(message: Message, into: str = "en", clock: Clock | None = None) -> str:
    """Tell a message in a language, with times as `clock` shows them, or in UTC."""
    return _Renderer(language(into), clock).tell(message.code, message.params)


def fill(template: str, params: Params, into: str, clock: Clock | None = None) -> str:
    """Fill in a template that is in no table of messages, as one of them is."""
    return _Renderer(language(into), clock).fill(parse(template), params)


@dataclass(frozen=True, slots=True)
class _Renderer:
    language: Language
    clock: Clock | None

    def tell(self, code: str, params: Params) -> str:
        template = self.language.sentences.get(code)
        if template is None:
            # Of a newer version, in a store or from a server.
            return str(params["text"]) if code == TEXT else f"{code} {dict(params)}" if params else code
        return self.fill(parse(template), params)

    def fill(self, parts: tuple[Part, ...], params: Params) -> str:
        told = ""
        for part in parts:
            if isinstance(part, str):
                told += part
            elif isinstance(part, Slot):
                told += self._show(params.get(part.name), part.format)
            elif self._has_all(part, params):
                told += self.fill(part.parts, params)
        return told

    def _has_all(self, part: Optional, params: Params) -> bool:
        wanted = [one.name for one in part.parts if isinstance(one, Slot)]
        return all(params.get(name) not in (None, "", [], (), {}) for name in wanted)

    def _show(self, value: Any, how: str) -> str:
        formats = self.language.formats
        if value is None:
            return "?"
        if how in self.language.words:
            return self._word(value, self.language.words[how])
        match how:
            case "size":
                return show_bytes(value)
            case "duration":
                return formats.duration(value)
            case "span":
                return formats.span(value)
            case "time":
                return moment(value, self.clock)
            case "amounts":
                return formats.amounts(value)
            case "figure":
                return formats.figure(value)
            case "quoted":
                return formats.quoted(self._show(value, ""))
            case "clauses" if isinstance(value, (list, tuple)):
                return formats.semicolon.join(self._show(one, "") for one in value)
            case "comma" if isinstance(value, (list, tuple)):
                return formats.comma.join(self._show(one, "") for one in value)
        return formats.counted(value, how) if "|" in how else self._plain(value)

    def _word(self, value: Any, words: Mapping[str, str]) -> str:
        if isinstance(value, (list, tuple)):
            return self.language.formats.listed([self._word(one, words) for one in value])
        return words.get(str(value), str(value))

    def _plain(self, value: Any) -> str:
        if is_message(value):
            return self._nested(value)
        if isinstance(value, (list, tuple)):
            return self.language.formats.listed([self._plain(one) for one in value])
        return (
            number(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
        )

    def _nested(self, value: Any) -> str:
        if isinstance(value, Message):
            return self.tell(value.code, value.params)
        return self.tell(value["code"], value["params"])
