"""The kinds of field that only files of OpenPAI have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from footplate.domain.kinds import Integer, Text
from footplate.domain.problems import Json, Problems, Schema, name_of

_DIGITS = re.compile(r"-?\d{1,18}")


@dataclass(frozen=True)
class Whole(Integer):
    """A whole number; its digits as a text are as good, since some clients send nothing but texts."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
            value = int(value)
        return super().read(value, path, problems)


@dataclass(frozen=True)
class Free:
    """A mapping whose entries nobody checks."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        return (
            dict(value) if isinstance(value, Mapping) else problems.add(path, "not_map", given=name_of(value))
        )

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {"type": "object"}


@dataclass(frozen=True)
class Strict(Text):
    """A text that must have been one: a bare number is refused."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if not isinstance(value, str):
            return problems.add(path, "not_text", given=name_of(value))
        return super().read(value, path, problems)


def text_of(value: Any) -> str:
    """Write a value as JavaScript prints it into a command."""
    import json

    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else str(value)
