"""Kinds of field: each reads a value with its bounds, writes it back, and describes itself as JSON schema.

Reading never stops at the first fault: every problem is added to a list with its path, so that the
caller sees all of them at once. The same table of fields yields the reader, the writer, the published
JSON schema and the help texts of forms.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from footplate.domain.messages import Message, say
from footplate.domain.problems import MISSING, Json, Problems, Schema, join, name_of, shorten


class Kind(Protocol):
    """What a field may hold."""

    def read(self, value: Json, path: str, problems: Problems) -> Any: ...

    def write(self, value: Any) -> Json: ...

    def schema(self) -> Schema: ...


@dataclass(frozen=True)
class Nullable:
    kind: Kind

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        return None if value is None else self.kind.read(value, path, problems)

    def write(self, value: Any) -> Json:
        return None if value is None else self.kind.write(value)

    def schema(self) -> Schema:
        return {"anyOf": [self.kind.schema(), {"type": "null"}]}


@dataclass(frozen=True)
class ListOf:
    kind: Kind
    most: int
    least: int = 0
    unique: str | None = None

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Sequence):
            return problems.add(path, "not_list", given=name_of(value))
        if not self.least <= len(value) <= self.most:
            if len(value) < self.least:
                return problems.add(path, "too_few_entries", least=self.least, given=len(value))
            return problems.add(path, "too_many_entries", most=self.most, given=len(value))
        read = [self.kind.read(item, join(path, i), problems) for i, item in enumerate(value)]
        if self.unique is not None:
            self._refuse_repeats(value, path, problems)
        return tuple(read)

    @property
    def _default_key(self) -> Any:
        """What an entry is called that does not say."""
        return self.kind.default_of(self.unique) if isinstance(self.kind, Record) and self.unique else None

    def _refuse_repeats(self, value: Sequence[Json], path: str, problems: Problems) -> None:
        seen: dict[str, int] = {}
        for i, item in enumerate(value):
            key = item.get(self.unique, self._default_key) if isinstance(item, Mapping) else item
            if not isinstance(key, str):
                continue
            first = seen.setdefault(key, i)
            if first != i:
                where = join(join(path, i), self.unique) if self.unique else join(path, i)
                problems.add(where, "used_twice", given=shorten(key), other=join(path, first))

    def write(self, value: Any) -> Json:
        return [self.kind.write(item) for item in value]

    def schema(self) -> Schema:
        schema: Schema = {"type": "array", "items": self.kind.schema(), "maxItems": self.most}
        if self.least:
            schema["minItems"] = self.least
        return schema


@dataclass(frozen=True)
class MapOf:
    key: Kind
    kind: Kind
    most: int

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if not isinstance(value, Mapping):
            return problems.add(path, "not_map", given=name_of(value))
        if len(value) > self.most:
            return problems.add(path, "too_many_entries", most=self.most, given=len(value))
        result = {}
        for name, item in value.items():
            where = join(path, shorten(str(name)))
            key, read = self.key.read(name, where, problems), self.kind.read(item, where, problems)
            if key is not MISSING and read is not MISSING:
                result[key] = read
        return result

    def write(self, value: Any) -> Json:
        return {name: self.kind.write(item) for name, item in value.items()}

    def schema(self) -> Schema:
        return {
            "type": "object",
            "propertyNames": self.key.schema(),
            "additionalProperties": self.kind.schema(),
            "maxProperties": self.most,
        }


# Looking for a similar name is dear; a document with more faults than this has other worries.
MOST_HINTS = 50


@dataclass(frozen=True)
class Field:
    """One named entry of a record; `attribute` is the name it has in our values."""

    name: str
    kind: Kind
    help: str
    default: Any = MISSING
    attribute: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        return self.attribute or self.name


# A check sees the values of a whole record; those that could not be read are MISSING.
Check = Callable[[Mapping[str, Any], str, Problems], None]


@dataclass(frozen=True)
class Record:
    """A mapping with known fields, held as a dataclass; unknown fields are refused.

    A bare text or number stands for the field named `short`, and a list where `takes_list` says so; `similar`
    are names to suggest for unknown ones.
    """

    build: Callable[..., Any]
    fields: tuple[Field, ...]
    checks: tuple[Check, ...] = ()
    short: str = ""
    takes_list: bool = False
    similar: tuple[str, ...] = ()
    _by_name: dict[str, Field] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = {alias: f for f in self.fields for alias in (f.name, *f.aliases)}
        object.__setattr__(self, "_by_name", names)

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if self._is_short(value):
            value = {self.short: value}
        if not isinstance(value, Mapping):
            return problems.add(path, "not_record", given=name_of(value))
        before = len(problems)
        values = self._read_known(value, path, problems)
        for one in self.fields:
            if one.target not in values:
                if one.default is MISSING:
                    values[one.target] = problems.add(join(path, one.name), "required")
                else:
                    values[one.target] = one.default
        for check in self.checks:
            check(values, path, problems)
        return MISSING if len(problems) > before else self.build(**values)

    def _is_short(self, value: Json) -> bool:
        if isinstance(value, list):
            return self.takes_list
        return bool(self.short) and isinstance(value, (str, int)) and not isinstance(value, bool)

    def _read_known(self, value: Mapping[Any, Json], path: str, problems: Problems) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, item in value.items():
            known = self._by_name.get(name) if isinstance(name, str) else None
            where = join(path, shorten(str(name)))
            if known is None:
                is_worth_a_hint = len(problems) < MOST_HINTS
                problems.add(where, self._refuse(str(name)) if is_worth_a_hint else say("unknown_field"))
            elif item is None and known.default is not MISSING and not isinstance(known.kind, Nullable):
                continue
            else:
                values[known.target] = known.kind.read(item, where, problems)
        return values

    def kind_of(self, name: str) -> Kind | None:
        known = self._by_name.get(name)
        return None if known is None else known.kind

    def default_of(self, name: str) -> Any:
        return self._by_name[name].default

    def _refuse(self, name: str) -> Message:
        if name in self.similar:
            return say("field_of_role")
        close = difflib.get_close_matches(name.lower()[:40], [*self._by_name, *self.similar], 1, 0.75)
        return say("unknown_field_similar", similar=close[0]) if close else say("unknown_field")

    def write(self, value: Any) -> Json:
        result = {}
        for one in self.fields:
            held = getattr(value, one.target)
            if held != one.default:
                result[one.name] = one.kind.write(held)
        return result

    def schema(self) -> Schema:
        properties: Schema = {}
        for one in self.fields:
            properties[one.name] = {**one.kind.schema(), "description": one.help}
            if one.default is not MISSING and one.default is not None:
                properties[one.name]["default"] = one.kind.write(one.default)
        required = [one.name for one in self.fields if one.default is MISSING]
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        if required:
            schema["required"] = required
        return schema
