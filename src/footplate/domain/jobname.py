"""Numbered job names for `--again` and clones: train, train-2, train-3."""

from __future__ import annotations

import re
from collections.abc import Container

MOST_CHARACTERS = 255
# A suffix of more digits is a part of the name.
_COUNTED = re.compile(r"(.+)-(\d{1,6})")
_ROOM_FOR_SUFFIX = 8


def stem_of(name: str) -> str:
    """What all names that are counted on from this one begin with."""
    counted = _COUNTED.fullmatch(name)
    return (counted[1] if counted else name)[: MOST_CHARACTERS - _ROOM_FOR_SUFFIX]


def next_free(name: str, taken: Container[str]) -> str:
    """The first of name-2, name-3, … that is not taken; a name with a number counts on."""
    counted = _COUNTED.fullmatch(name)
    number = int(counted[2]) + 1 if counted else 2
    while (free := f"{stem_of(name)}-{number}") in taken:
        number += 1
    return free
