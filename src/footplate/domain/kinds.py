"""The plain kinds of field: texts, numbers, sizes, times, each with its bounds."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from footplate.domain.problems import MISSING, Json, Problems, Schema, is_writable, name_of, shorten


@dataclass(frozen=True)
class Text:
    """A text of bounded length, optionally of a certain form, which messages name by a word of theirs."""

    most: int
    least: int = 0
    pattern: str = ""
    form: str = ""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and not self.pattern:
            value = str(value)
        if not isinstance(value, str):
            return problems.add(path, "not_text", given=name_of(value))
        if not is_writable(value):
            return problems.add(path, "not_writable")
        if len(value.strip()) < self.least:
            return problems.add(path, "empty")
        if len(value) > self.most:
            return problems.add(path, "too_long", length=len(value), most=self.most)
        if self.pattern and not re.fullmatch(self.pattern, value):
            return problems.add(path, "not_of_form", given=shorten(value), form=self.form)
        return value

    def keep(self, text: str, value: Json) -> Json:  # noqa: ARG002
        return text

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
            return problems.add(path, "not_whole_number", given=name_of(value))
        if not self.least <= value <= self.most:
            return problems.add(
                path, "out_of_range", low=self.least, high=self.most, given=shorten(str(value), 24)
            )
        return value

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True)
class Number:
    """Any finite number."""

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > 1e300:
            return problems.add(path, "not_number", given=name_of(value))
        # What is not a number is not equal to itself.
        return float(value) if value == value else problems.add(path, "not_number", given=name_of(value))

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {"type": "number"}


@dataclass(frozen=True)
class Cpus:
    """A number of CPUs, fractions allowed; held in thousandths."""

    least_milli: int
    most_milli: int

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return problems.add(path, "not_cpus", given=name_of(value))
        milli = round(value * 1000) if -1e9 < value < 1e9 else -1
        if not self.least_milli <= milli <= self.most_milli:
            low, high = self.least_milli / 1000, self.most_milli // 1000
            return problems.add(path, "cpus_out_of_range", low=low, high=high, given=shorten(str(value), 24))
        return milli

    def write(self, value: Any) -> Json:
        return value // 1000 if value % 1000 == 0 else value / 1000

    def schema(self) -> Schema:
        return {"type": "number", "minimum": self.least_milli / 1000, "maximum": self.most_milli / 1000}


_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT])(?:iB?|B)?", re.IGNORECASE)
_SIZE_FACTORS = {"K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}


@dataclass(frozen=True)
class Size:
    """An amount of bytes such as `512MB`, `4GB` or `1Gi`; K, M, G and T are powers of 1024."""

    least_bytes: int
    most_bytes: int

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            size: float = value
        elif isinstance(value, str) and (match := _SIZE.fullmatch(value.strip())):
            size = float(match[1]) * _SIZE_FACTORS[match[2].upper()]
        else:
            return problems.add(path, "not_size", given=shorten(repr(value), 24))
        if not self.least_bytes <= size <= self.most_bytes:
            return problems.add(
                path,
                "size_out_of_range",
                low_bytes=self.least_bytes,
                high_bytes=self.most_bytes,
                given=shorten(str(value), 24),
                meant=f"{value}GB" if isinstance(value, int) and 0 < value < 4096 else None,
            )
        return int(size)

    def write(self, value: Any) -> Json:
        for unit in "TGM":
            if value and value % _SIZE_FACTORS[unit] == 0:
                return f"{value // _SIZE_FACTORS[unit]}{unit}B"
        return value

    def schema(self) -> Schema:
        return {
            "anyOf": [
                {"type": "string", "pattern": r"^\d+(\.\d+)?\s*[KMGTkmgt]([iI][bB]?|[bB])?$"},
                {"type": "integer", "minimum": self.least_bytes, "maximum": self.most_bytes},
            ]
        }


_DURATION = re.compile(
    r"(?:(?P<d>\d{1,6})d)?(?:(?P<h>\d{1,8})h)?(?:(?P<m>\d{1,9})m(?:in)?)?(?:(?P<s>\d{1,10})s)?"
)
MOST_OF_A_DURATION = 64
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def _duration_in(value: Json) -> re.Match[str] | None:
    if not isinstance(value, str) or len(value) > MOST_OF_A_DURATION or not value.strip():
        return None
    return _DURATION.fullmatch("".join(value.split()))


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
        elif match := _duration_in(value):
            seconds = sum(int(match[unit] or 0) * factor for unit, factor in _SECONDS.items())
        else:
            return problems.add(path, "not_duration", given=shorten(repr(value), 24))
        if not self.least_s <= seconds <= self.most_s:
            return problems.add(
                path,
                "duration_out_of_range",
                low_s=self.least_s,
                high_s=self.most_s,
                given=shorten(str(value), 24),
            )
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
                return problems.add(path, "not_instant", given=shorten(repr(value), 24))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp() if 1971 < moment.year < 9000 else problems.add(path, "instant_out_of_range")

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
        return value if isinstance(value, bool) else problems.add(path, "not_flag", given=name_of(value))

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
        return problems.add(path, "not_a_choice", options=list(self.options), given=shorten(repr(value), 40))

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(self.options)}


_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]*[1-9]")
# Beyond this, some readers of JSON round whole numbers.
_MOST_EXACT = 2**53 - 1


def _reads_back(text: str, value: Json) -> bool:
    """Tell whether every program that is given the value writes it as this text."""
    if isinstance(value, bool):
        return text == str(value).lower()
    if isinstance(value, int):
        return text == str(value) and abs(value) <= _MOST_EXACT
    # Small and large ones are written with an exponent by some and without by others.
    return isinstance(value, float) and text == repr(value) and _DECIMAL.fullmatch(text) is not None


@dataclass(frozen=True)
class Scalar:
    """A text, number or yes/no value, kept as it is."""

    most: int = 4096

    def read(self, value: Json, path: str, problems: Problems) -> Any:
        if isinstance(value, str):
            return Text(self.most).read(value, path, problems)
        if isinstance(value, (bool, int, float)) and abs(value) < 1e300:
            return value
        return problems.add(path, "not_scalar", given=name_of(value))

    def keep(self, text: str, value: Json) -> Json:
        return value if _reads_back(text, value) else text

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {"type": ["string", "number", "boolean"]}


@dataclass(frozen=True)
class ScalarText(Scalar):
    """A scalar that is held as the text a shell would see."""

    def keep(self, text: str, value: Json) -> Json:  # noqa: ARG002
        return text

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
            return problems.add(path, "not_json")
        if not is_writable(text) or "\\u0000" in text:
            return problems.add(path, "not_writable")
        if len(text) > self.most_bytes:
            return problems.add(path, "json_too_long", length=len(text), most=self.most_bytes)
        return value

    def write(self, value: Any) -> Json:
        return value

    def schema(self) -> Schema:
        return {}
