"""Reads the JSON of other systems' clients, field by field, and names the field that is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from footplate.domain.errors import InvalidInput
from footplate.domain.problems import is_writable, name_of

MOST_TEXT = 65_536


class Reader:
    """One object of a request, and where in the request it is; null is the same as absent."""

    def __init__(self, value: Any, path: str = "") -> None:
        if not isinstance(value, Mapping):
            raise InvalidInput("not_map", path or "body", given=name_of(value))
        self.value = value
        self.path = path

    def _at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def has(self, name: str) -> bool:
        return self.value.get(name) is not None

    def text(self, name: str, default: str | None = "", most: int = MOST_TEXT) -> str:
        """A text; without a default it must be there, and have something in it."""
        value = self.value.get(name)
        if value is None or (value == "" and default is None):
            if default is None:
                raise InvalidInput("required", self._at(name))
            return default
        if not isinstance(value, str):
            raise InvalidInput("not_text", self._at(name), given=name_of(value))
        if len(value) > most:
            raise InvalidInput("too_long", self._at(name), length=len(value), most=most)
        if not is_writable(value):
            raise InvalidInput("not_writable", self._at(name))
        return value

    def whole(self, name: str, default: int | None = None, least: int = 0, most: int = 2**53) -> int:
        """A whole number within bounds."""
        value = self.value.get(name)
        if value is None:
            if default is None:
                raise InvalidInput("required", self._at(name))
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidInput("not_whole_number", self._at(name), given=name_of(value))
        if not least <= value <= most:
            raise InvalidInput("out_of_range", self._at(name), low=least, high=most, given=value)
        return value

    def one(self, name: str) -> Reader | None:
        value = self.value.get(name)
        return None if value is None else Reader(value, self._at(name))

    def each(self, name: str, most: int = 1000) -> Iterator[Reader]:
        """The objects of a list."""
        for number, value in enumerate(self.all(name, most)):
            yield Reader(value, f"{self._at(name)}[{number}]")

    def all(self, name: str, most: int = 1000) -> list[Any]:
        value = self.value.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise InvalidInput("not_list", self._at(name), given=name_of(value))
        if len(value) > most:
            raise InvalidInput("too_many_entries", self._at(name), most=most, given=len(value))
        return value

    def texts(self, name: str, most: int = 1000) -> list[str]:
        found = self.all(name, most)
        for number, value in enumerate(found):
            if not isinstance(value, str):
                raise InvalidInput("not_text", f"{self._at(name)}[{number}]", given=name_of(value))
            if not is_writable(value):
                raise InvalidInput("not_writable", f"{self._at(name)}[{number}]")
        return found
