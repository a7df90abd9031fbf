"""Numbers, sizes, times and amounts as the languages write them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from footplate.domain.resources import show_bytes

_SPANS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
_DIMENSIONS = ("gpus", "milli_cpus", "memory_bytes")
MOST_LISTED = 8

# Takes an instant in UTC to the clock on the reader's wall.
Clock = Callable[[datetime], datetime]


def number(value: float) -> str:
    """Write a number without needless digits."""
    return str(value) if isinstance(value, int) else f"{value:.12g}"


def moment(instant: str, clock: Clock | None) -> str:
    """Write an instant as the reader's clock shows it, to the second; in UTC for nobody in particular."""
    at = datetime.fromisoformat(instant).astimezone(UTC)
    if clock is None:
        return f"{at:%Y-%m-%d %H:%M:%S} UTC"
    return f"{clock(at):%Y-%m-%d %H:%M:%S}"


@dataclass(frozen=True, slots=True)
class Formats:
    """How one language writes what is not a word."""

    # Units of a length of time, by `d`, `h`, `m`, `s`: one and more, and what stands between two of them.
    units: Mapping[str, tuple[str, str]]
    units_apart: str
    # What is asked for, by resource: one of it, and more.
    resources: Mapping[str, tuple[str, str]]
    of_type: str
    comma: str
    last: str
    semicolon: str
    quotes: tuple[str, str]
    more: str

    def duration(self, seconds: float) -> str:
        """Write a length of time exactly, in whole seconds, such as `1 hour 30 minutes`."""
        rest, parts = int(seconds), []
        for unit, factor in _SPANS:
            count, rest = divmod(rest, factor)
            if count:
                parts.append(self._counted(count, self.units[unit]))
        return self.units_apart.join(parts) or self._counted(0, self.units["s"])

    def span(self, seconds: float) -> str:
        """Write a length of time in the largest unit that says enough of it."""
        for unit, factor in _SPANS[:3]:
            if seconds >= 2 * factor:
                return self._counted(math.ceil(seconds / factor), self.units[unit])
        return self._counted(math.ceil(seconds), self.units["s"])

    def amounts(self, wanted: Mapping[str, Any]) -> str:
        """Write all that is asked for, such as `2 GPUs, 4 CPUs and 8GB of memory`."""
        words = [self._amount(name, wanted) for name in _DIMENSIONS if wanted.get(name)]
        if not words:
            words = [self._amount(name, wanted) for name in _DIMENSIONS if name in wanted]
        return self.listed(words)

    def figure(self, wanted: Mapping[str, Any]) -> str:
        """Write how much it is of the one resource that is given, without its name."""
        return self._figure(*next((name, wanted[name]) for name in _DIMENSIONS if name in wanted))

    def listed(self, words: Sequence[str], most: int = MOST_LISTED) -> str:
        shown = list(words[:most])
        if len(words) > most:
            shown.append(self.more.format(n=len(words) - most))
        return self.last.join([self.comma.join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)

    def quoted(self, value: str) -> str:
        return f"{self.quotes[0]}{value}{self.quotes[1]}"

    def counted(self, n: float, nouns: str) -> str:
        """Write a number with its noun, of which the singular and the plural are given as `job|jobs`."""
        one, _, many = nouns.partition("|")
        return f"{number(n)} {one if n == 1 else many}"

    def _amount(self, name: str, wanted: Mapping[str, Any]) -> str:
        n = wanted[name]
        one, many = self.resources[name]
        is_one = n == (1000 if name == "milli_cpus" else 1)
        told = (one if is_one else many).format(self._figure(name, n))
        kind = wanted.get("gpu_type") if name == "gpus" else ""
        return self.of_type.format(kind=kind, amount=told) if kind else told

    def _figure(self, name: str, n: float) -> str:
        match name:
            case "memory_bytes":
                return show_bytes(n)
            case "milli_cpus":
                return number(n / 1000 if n % 1000 else n // 1000)
        return number(n)

    def _counted(self, n: int, unit: tuple[str, str]) -> str:
        return f"{n} {unit[n != 1]}"


ENGLISH = Formats(
    units={
        "d": ("day", "days"),
        "h": ("hour", "hours"),
        "m": ("minute", "minutes"),
        "s": ("second", "seconds"),
    },
    units_apart=" ",
    resources={
        "gpus": ("{} GPU", "{} GPUs"),
        "milli_cpus": ("{} CPU", "{} CPUs"),
        "memory_bytes": ("{} of memory", "{} of memory"),
    },
    of_type="{amount} of type {kind}",
    comma=", ",
    last=" and ",
    semicolon="; ",
    quotes=("'", "'"),
    more="{n} more",
)
CHINESE = Formats(
    units={"d": ("天", "天"), "h": ("小时", "小时"), "m": ("分钟", "分钟"), "s": ("秒", "秒")},
    units_apart=" ",
    resources={
        "gpus": ("{} 张 GPU", "{} 张 GPU"),
        "milli_cpus": ("{} 核 CPU", "{} 核 CPU"),
        "memory_bytes": ("{} 内存", "{} 内存"),
    },
    of_type="{amount}（{kind}）",
    comma="、",
    last="、",
    semicolon="；",
    quotes=("“", "”"),
    more="另外 {n} 项",
)
