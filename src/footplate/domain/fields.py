"""Kinds of field: each reads a value with its bounds, writes it back, and describes itself as JSON schema.

Reading never stops at the first fault: every problem is added to a list with its path, so that the
caller sees all of them at once. The same table of fields yields the reader, the writer, the published
JSON schema and the help texts of forms.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from footplate.domain.errors import InvalidInput, Problem
from footplate.domain.resources import show_bytes

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


class Kind(Protocol):
    """What a field may hold."""

    def read(self, value: Json, path: str, problems: Problems) -> Any: ...

    def write(self, value: Any) -> Json: ...

    def schema(self) -> Schema: ...


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


_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f\ud800-\udfff]")


def is_writable(text: str) -> bool:
    """Tell whether a text can be stored and shown everywhere (no control characters, no lone surrogates)."""
    return _UNWRITABLE.search(text) is None


def shorten(text: str, length: int = 60) -> str:
    shown = text.encode("utf-8", "backslashreplace").decode()
    return shown if len(shown) <= length else shown[: length - 1] + "…"


@dataclass(frozen=True)
class Text:
    """A text of bounded length, optionally of a certain form."""

    most: int
    least: int = 0
    pattern: str = ""
    form: str = ""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and not self.pattern:
            value = str(value)
        if not isinstance(value, str):
            return problems.add(path, f"must be a text, not {name_of(value)}")
        if not is_writable(value):
            return problems.add(path, "contains a control character or an invalid Unicode character")
        if len(value.strip()) < self.least:
            return problems.add(path, "must not be empty")
        if len(value) > self.most:
            return problems.add(path, f"is {len(value)} characters long; at most {self.most} are allowed")
        if self.pattern and not re.fullmatch(self.pattern, value):
            return problems.add(path, f"{shorten(value)!r} is not allowed: must be {self.form}")
        return value

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        schema: Schema = {"type": "string", "maxLength": self.most}
        if self.least:
            schema["minLength"] = self.least
        if self.pattern:
            schema["pattern"] = f"^{self.pattern}$"
        return schema


@dataclass(frozen=True)
class Integer:
    least: int
    most: int

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            return problems.add(path, f"must be a whole number, not {name_of(value)}")
        if not self.least <= value <= self.most:
            return problems.add(
                path, f"must be from {self.least} to {self.most}, not {shorten(str(value), 24)}"
            )
        return value

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True)
class Cpus:
    """A number of CPUs, fractions allowed; held in thousandths."""

    least_milli: int
    most_milli: int

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return problems.add(path, f"must be a number of CPUs such as 1 or 0.5, not {name_of(value)}")
        milli = round(value * 1000) if -1e9 < value < 1e9 else -1
        if not self.least_milli <= milli <= self.most_milli:
            low, high = self.least_milli / 1000, self.most_milli // 1000
            return problems.add(path, f"must be from {low:g} to {high} CPUs, not {shorten(str(value), 24)}")
        return milli

    def write(self, value: Any) -> Json:
        return value // 1000 if value % 1000 == 0 else value / 1000

    def schema(self) -> Schema:
        return {"type": "number", "minimum": self.least_milli / 1000, "maximum": self.most_milli / 1000}


_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT])(?:i?B)?", re.IGNORECASE)
_SIZE_FACTORS = {"K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}


@dataclass(frozen=True)
class Size:
    """An amount of bytes such as `512MB` or `4GB`; K, M, G and T are powers of 1024."""

    least_bytes: int
    most_bytes: int

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            size: float = value
        elif isinstance(value, str) and (match := _SIZE.fullmatch(value.strip())):
            size = float(match[1]) * _SIZE_FACTORS[match[2].upper()]
        else:
            return problems.add(
                path, f"must be a size with a unit such as 512MB or 4GB, not {shorten(repr(value), 24)}"
            )
        if not self.least_bytes <= size <= self.most_bytes:
            low, high = show_bytes(self.least_bytes), show_bytes(self.most_bytes)
            hint = f"; did you mean {value}GB?" if isinstance(value, int) and 0 < value < 4096 else ""
            return problems.add(path, f"must be from {low} to {high}, not {shorten(str(value), 24)}{hint}")
        return int(size)

    def write(self, value: Any) -> Json:
        for unit in "TGM":
            if value % _SIZE_FACTORS[unit] == 0:
                return f"{value // _SIZE_FACTORS[unit]}{unit}B"
        return value

    def schema(self) -> Schema:
        return {
            "anyOf": [
                {"type": "string", "pattern": r"^\d+(\.\d+)?\s*[KMGTkmgt]([iI]?[bB])?$"},
                {"type": "integer", "minimum": self.least_bytes, "maximum": self.most_bytes},
            ]
        }


_DURATION = re.compile(
    r"(?:(?P<d>\d{1,6})d)?\s*(?:(?P<h>\d{1,8})h)?\s*(?:(?P<m>\d{1,9})m(?:in)?)?\s*(?:(?P<s>\d{1,10})s)?"
)
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def show_duration(seconds: float) -> str:
    """Write a duration the way the job file reads it, such as `1h30m`."""
    rest, text = int(seconds), ""
    for unit, factor in _SECONDS.items():
        count, rest = divmod(rest, factor)
        text += f"{count}{unit}" if count else ""
    return text or "0s"


@dataclass(frozen=True)
class Duration:
    """A span of time such as `90s`, `10m` or `1h30m`; a bare number counts seconds."""

    least_s: int
    most_s: int

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e12:
            seconds = int(value)
        elif isinstance(value, str) and value.strip() and (match := _DURATION.fullmatch(value.strip())):
            seconds = sum(int(match[unit] or 0) * factor for unit, factor in _SECONDS.items())
        else:
            return problems.add(
                path, f"must be a duration such as 90s, 10m or 1h30m, not {shorten(repr(value), 24)}"
            )
        if not self.least_s <= seconds <= self.most_s:
            low, high = show_duration(self.least_s), show_duration(self.most_s)
            return problems.add(path, f"must be from {low} to {high}, not {shorten(str(value), 24)}")
        return seconds

    def write(self, value: Any) -> Json:
        return show_duration(value)

    def schema(self) -> Schema:
        return {
            "anyOf": [
                {
                    "type": "string",
                    "pattern": r"^(\d+d)?\s*(\d+h)?\s*(\d+m(in)?)?\s*(\d+s)?$",
                    "minLength": 2,
                },
                {"type": "integer", "minimum": self.least_s, "maximum": self.most_s},
            ]
        }


@dataclass(frozen=True)
class Instant:
    """A moment as ISO 8601, with a time zone (UTC when none is given); held as seconds since 1970."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, datetime):
            moment = value
        else:
            try:
                moment = datetime.fromisoformat(value)
            except (TypeError, ValueError):
                return problems.add(
                    path,
                    f"must be a date and time such as 2030-01-31T18:00:00Z, not {shorten(repr(value), 24)}",
                )
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp() if 1971 < moment.year < 9000 else problems.add(path, "is out of range")

    def write(self, value: Any) -> Json:
        return show_instant(value)

    def schema(self) -> Schema:
        return {"type": "string", "format": "date-time"}


def show_instant(at: float) -> str:
    """Write an instant as ISO 8601 in UTC with milliseconds."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class Flag:
    def read(self, value: Json, path: str, problems: Problems) -> Any:
        return (
            value
            if isinstance(value, bool)
            else problems.add(path, f"must be true or false, not {name_of(value)}")
        )

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Choice:
    options: tuple[str, ...]

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and value in self.options:
            return value
        return problems.add(path, f"must be one of {', '.join(self.options)}, not {shorten(repr(value), 40)}")

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(self.options)}


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
            return problems.add(path, f"must be a list, not {name_of(value)}")
        if not self.least <= len(value) <= self.most:
            least = "at least one entry" if self.least == 1 else f"{self.least} entries"
            bound = (
                f"must have {least}" if len(value) < self.least else f"may have at most {self.most} entries"
            )
            return problems.add(path, f"{bound}, not {len(value)}")
        read = [self.kind.read(item, join(path, i), problems) for i, item in enumerate(value)]
        if self.unique is not None:
            self._refuse_repeats(value, path, problems)
        return tuple(read)

    def _refuse_repeats(self, value: Sequence[Json], path: str, problems: Problems) -> None:
        seen: dict[str, int] = {}
        for i, item in enumerate(value):
            key = item.get(self.unique) if isinstance(item, Mapping) else item
            if not isinstance(key, str):
                continue
            first = seen.setdefault(key, i)
            if first != i:
                where = join(join(path, i), self.unique) if self.unique else join(path, i)
                problems.add(where, f"{shorten(key)!r} is used already by {join(path, first)}")

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
            return problems.add(path, f"must be a mapping of names to values, not {name_of(value)}")
        if len(value) > self.most:
            return problems.add(path, f"may have at most {self.most} entries, not {len(value)}")
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


@dataclass(frozen=True)
class Scalar:
    """A text, number or yes/no value, kept as it is."""

    most: int = 4096

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, str):
            return Text(self.most).read(value, path, problems)
        if isinstance(value, (bool, int, float)) and abs(value) < 1e300:
            return value
        return problems.add(path, f"must be a text, a number or true/false, not {name_of(value)}")

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {"type": ["string", "number", "boolean"]}


@dataclass(frozen=True)
class ScalarText(Scalar):
    """A scalar that is held as the text a shell would see."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        read = super().read(value, path, problems)
        if read is MISSING or isinstance(read, str):
            return read
        return str(read).lower() if isinstance(read, bool) else str(read)


@dataclass(frozen=True)
class AnyJson:
    """Anything that JSON can hold, bounded in size."""

    most_bytes: int

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return problems.add(
                path, "must be plain JSON data, without dates, NaN or values nested in themselves"
            )
        if not is_writable(text) or "\\u0000" in text:
            return problems.add(path, "contains a control character or an invalid Unicode character")
        if len(text) > self.most_bytes:
            return problems.add(
                path, f"is {len(text)} bytes long as JSON; at most {self.most_bytes} are allowed"
            )
        return value

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {}


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

    A bare text or number stands for the field named `short`; `similar` are names to suggest for unknown ones.
    """

    build: Callable[..., Any]
    fields: tuple[Field, ...]
    checks: tuple[Check, ...] = ()
    short: str = ""
    similar: tuple[str, ...] = ()
    _by_name: dict[str, Field] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = {alias: f for f in self.fields for alias in (f.name, *f.aliases)}
        object.__setattr__(self, "_by_name", names)

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if self.short and isinstance(value, (str, int)) and not isinstance(value, bool):
            value = {self.short: value}
        if not isinstance(value, Mapping):
            return problems.add(path, f"must be a mapping, not {name_of(value)}")
        before = len(problems)
        values = self._read_known(value, path, problems)
        for one in self.fields:
            if one.target not in values:
                if one.default is MISSING:
                    values[one.target] = problems.add(join(path, one.name), "is required")
                else:
                    values[one.target] = one.default
        for check in self.checks:
            check(values, path, problems)
        return MISSING if len(problems) > before else self.build(**values)

    def _read_known(self, value: Mapping[Any, Json], path: str, problems: Problems) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, item in value.items():
            known = self._by_name.get(name) if isinstance(name, str) else None
            where = join(path, shorten(str(name)))
            if known is None:
                problems.add(where, f"is not a known field{self._suggest(str(name))}")
            elif item is None and known.default is not MISSING and not isinstance(known.kind, Nullable):
                continue
            else:
                values[known.target] = known.kind.read(item, where, problems)
        return values

    def _suggest(self, name: str) -> str:
        close = difflib.get_close_matches(name.lower()[:40], [*self._by_name, *self.similar], 1, 0.75)
        return f"; did you mean {close[0]!r}?" if close else ""

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
