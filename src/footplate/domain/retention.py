"""How long what jobs leave is kept: logs, outputs, work folders, code; by default for ever."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

DAY_S = 86400
# What a queue can say something of. Outputs are results and checkpoints.
PARTS = ("logs", "outputs", "work", "code")
Kept = tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class Retention:
    """In seconds from the end of a job, None being for ever; uploads count from when they came."""

    logs_s: int | None = None
    outputs_s: int | None = None
    work_s: int | None = None
    code_s: int | None = None
    uploads_s: int = 30 * DAY_S

    def of(self, part: str) -> int | None:
        kept: int | None = getattr(self, f"{part}_s")
        return kept

    def with_queue(self, own: Kept) -> Retention:
        """What holds in a queue: what it says itself, and for the rest the defaults."""
        said: dict[str, Any] = {f"{part}_s": kept for part, kept in own}
        return replace(self, **said)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of the disk the parts of a job take."""

    logs: int = 0
    outputs: int = 0
    work: int = 0
    code: int = 0

    @property
    def total(self) -> int:
        return self.logs + self.outputs + self.work + self.code

    def __add__(self, other: Sizes) -> Sizes:
        return Sizes(*(getattr(self, part) + getattr(other, part) for part in PARTS))

    def without(self, parts: Iterable[str]) -> Sizes:
        return replace(self, **dict.fromkeys(parts, 0))
