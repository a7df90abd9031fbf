"""Reads Slurm's numbers: sizes, times, counts of nodes and GPUs; None where one cannot be read."""

from __future__ import annotations

import re
from dataclasses import dataclass

MIB = 1 << 20
_FACTORS = {"K": 1 << 10, "M": MIB, "": MIB, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d{1,15})([KMGT]?)B?", re.IGNORECASE)
_DAYS = re.compile(r"(\d{1,6})-(\d{1,6})(?::(\d{1,6}))?(?::(\d{1,6}))?")
_CLOCK = re.compile(r"(\d{1,9})(?::(\d{1,6}))?(?::(\d{1,6}))?")
_GPUS = re.compile(r"(?:(?P<type>[A-Za-z][\w.-]*)(?::|$))?(?P<count>\d{1,6})?(?:\([^)]*\))?")


@dataclass(frozen=True, slots=True)
class Gpus:
    count: int
    type: str = ""


def read_count(text: str) -> int | None:
    """A number of at least one; of a range such as 2-4 the least, with K as thousand."""
    found = re.fullmatch(r"(\d{1,9})(?:-\d{1,9})?", text)
    return int(found[1]) if found and int(found[1]) > 0 else None


def read_bytes(text: str) -> int | None:
    """A size; a bare number counts megabytes."""
    found = _SIZE.fullmatch(text)
    return int(found[1]) * _FACTORS[found[2].upper()] if found else None


def read_seconds(text: str) -> int | None:
    """A time: minutes, minutes:seconds, hours:minutes:seconds, or days-hours with either behind."""
    if found := _DAYS.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if not (found := _CLOCK.fullmatch(text)):
        return None
    first, second, third = found.groups()
    if third is not None:
        return int(first) * 3600 + int(second) * 60 + int(third)
    return int(first) * 60 + int(second or 0)


def read_gpus(text: str) -> Gpus | None:
    """GPUs such as `2`, `a100:2` or `a100`."""
    found = _GPUS.fullmatch(text)
    if not found or not text or (found["type"] is None and found["count"] is None):
        return None
    kind = found["type"] or ""
    # Types are written in capitals here, as the cards' own names are.
    return Gpus(int(found["count"] or 1), kind.upper() if re.fullmatch(r"[a-z]+\d+[a-z]*", kind) else kind)


def read_gres(text: str) -> tuple[Gpus | None, list[str]]:
    """The GPUs of a list of generic resources, and the entries that are something else."""
    gpus, others = None, []
    for entry in text.split(","):
        name, _, rest = entry.partition(":")
        found = read_gpus(rest or "1") if name in ("gpu", "gres/gpu") else None
        if found is None:
            others.append(entry)
        gpus = found or gpus
    return gpus, others
