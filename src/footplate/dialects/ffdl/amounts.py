"""Numbers and sizes as manifests write them."""

from __future__ import annotations

import math
import re
from typing import Any

from footplate.domain.problems import Problems

_MEMORY = re.compile(r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*([A-Za-z]*)\s*")
_UNITS = {"mb": 1000**2, "mib": 1024**2, "gb": 1000**3, "gib": 1024**3, "gi": 1024**3, "mi": 1024**2}
_OF_FFDL = frozenset({"mb", "mib", "gb", "gib"})
_OF_PROPHECIS = frozenset({"mib", "gb"})
# What FfDL takes for a memory that it cannot read, and for none.
UNREADABLE_BYTES = 512 * 1000**2
ABSENT_BYTES = 12 * 1024**3
MOST = 10.0**12


def number(value: Any) -> float | None:
    """Read a number, which may be written as a text; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        found = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and abs(found) <= MOST else None


def text(value: Any) -> str:
    """A scalar as the text that it stands for; nothing for what is none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip() if isinstance(value, (str, int, float)) else ""


def ffdl_memory(value: Any) -> int:
    """Read a memory as FfDL does: what it cannot read is 512 MB, and 0 is 12 GiB."""
    found = _MEMORY.fullmatch(text(value))
    if found is None or found[2].lower() not in _OF_FFDL:
        return UNREADABLE_BYTES
    return int(float(found[1]) * _UNITS[found[2].lower()]) or ABSENT_BYTES


def prophecis_memory(value: Any, path: str, problems: Problems) -> int:
    """Read a memory as Prophecis does, which takes Mib and Gb only."""
    found = _MEMORY.fullmatch(text(value))
    if found is None or found[2].lower() not in _OF_PROPHECIS:
        problems.add(path, "ffdl_memory_unit", given=text(value)[:32])
        return 0
    n_bytes = int(float(found[1]) * _UNITS[found[2].lower()])
    if n_bytes <= 0:
        problems.add(path, "ffdl_amounts_positive")
    return n_bytes


def server_memory(value: Any, path: str, problems: Problems) -> int:
    """Read the memory of a parameter server, such as `1Gi`."""
    found = _MEMORY.fullmatch(text(value))
    factor = _UNITS.get(found[2].lower()) if found and found[2] else 1024**3
    if found is None or factor is None:
        problems.add(path, "ffdl_memory_unit", given=text(value)[:32])
        return 0
    return int(float(found[1]) * factor)
