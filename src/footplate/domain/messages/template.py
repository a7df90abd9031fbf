"""How a sentence of the tables is written.

`{name}` stands for a parameter, `{name:format}` for one that is formatted, `{n:job|jobs}` for a number with
its noun. `[…]` is left out unless every parameter in it is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a parameter goes."""

    name: str
    format: str = ""


@dataclass(frozen=True, slots=True)
class Optional:
    """A part that is there only when its parameters are."""

    parts: tuple[Part, ...]


Part = str | Slot | Optional

_TOKEN = re.compile(r"\{(?P<name>\w+)(?::(?P<format>[^{}]*))?\}|[][]|[^][{]+")


@cache
def parse(template: str) -> tuple[Part, ...]:
    """Read a sentence of the tables; raise `ValueError` when its signs do not match."""
    stack: list[list[Part]] = [[]]
    at = 0
    for found in _TOKEN.finditer(template):
        sign = found.group()
        if found.start() != at or (sign == "]" and len(stack) == 1):
            break
        at = found.end()
        if found["name"]:
            stack[-1].append(Slot(found["name"], found["format"] or ""))
        elif sign == "[":
            stack.append([])
        elif sign == "]":
            inner = tuple(stack.pop())
            stack[-1].append(Optional(inner))
        else:
            stack[-1].append(sign)
    if at != len(template) or len(stack) != 1:
        raise ValueError(f"not a template: {template!r}")
    return tuple(stack[0])


def slots(parts: tuple[Part, ...], is_optional: bool = False) -> Iterator[tuple[Slot, bool]]:
    """Go through the parameters of a sentence, each with whether it may be missing."""
    for part in parts:
        if isinstance(part, Slot):
            yield part, is_optional
        elif isinstance(part, Optional):
            yield from slots(part.parts, True)
