"""Rows of figures, and the page they are kept on."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "benchmarks.md"


@dataclass(frozen=True)
class Row:
    """One claim: what was seen, the bar it is held to, and what stands beside it."""

    claim: str
    seen: str
    bar: str
    beside: str
    holds: bool


def percentile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    system = f"Linux {platform.release()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores ({model}), {memory:.0f} GB, {system}"


def table(rows: Sequence[Row]) -> str:
    lines = ["| claim | seen | bar | beside it, same run | |", "|---|---|---|---|---|"]
    lines += [
        f"| {r.claim} | {r.seen} | {r.bar} | {r.beside} | {'✓' if r.holds else '**missed**'} |" for r in rows
    ]
    return "\n".join(lines)


def write_page(rows: Sequence[Row]) -> None:
    today = datetime.now(UTC).date().isoformat()
    PAGE.write_text(
        "# Benchmarks\n\n"
        "Written by `make bench`: every figure was measured in one run, with the bare limit or a peer "
        "beside it.\n\n"
        f"Seen on {today}, {machine()}.\n\n{table(rows)}\n"
    )
