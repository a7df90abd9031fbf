"""How much was taken over time: spans of jobs that held something, as averages over equal steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from footplate.domain.resources import Resources


@dataclass(frozen=True, slots=True)
class Span:
    """What a job held, from when to when."""

    begin_at: float
    end_at: float
    held: Resources


@dataclass(frozen=True, slots=True)
class Use:
    """What was held on average: parts of a card too."""

    cpus: float = 0.0
    memory_bytes: float = 0.0
    gpus: float = 0.0

    def plus(self, held: Resources, share: float) -> Use:
        return Use(
            self.cpus + held.milli_cpus / 1000 * share,
            self.memory_bytes + held.memory_bytes * share,
            self.gpus + held.gpus * share,
        )


def averages(spans: Iterable[Span], begin_at: float, step_s: float, n_steps: int) -> list[Use]:
    """What was held in each step; parts of spans outside of the steps do not count."""
    uses = [Use()] * n_steps
    for span in spans:
        first = max(0, int((span.begin_at - begin_at) // step_s))
        last = min(n_steps - 1, int((span.end_at - begin_at) // step_s))
        for index in range(first, last + 1):
            step_at = begin_at + index * step_s
            held_s = min(span.end_at, step_at + step_s) - max(span.begin_at, step_at)
            uses[index] = uses[index].plus(span.held, max(0.0, held_s) / step_s)
    return uses
