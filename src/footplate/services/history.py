"""How much of the machines was taken in the last day."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.history import Span, Use, averages
from footplate.domain.resources import Resources
from footplate.services.accounting import held_in
from footplate.services.platform import Platform
from footplate.store.holding_queries import Period

STEP_S = 900.0
N_STEPS = 96
# A day of more is counted from its end, as far as this goes.
MOST_HOLDINGS = 20_000


@dataclass(frozen=True, slots=True)
class History:
    """What was held in each step; `counted_from` is where the count begins, if not at the first step."""

    begin_at: float
    step_s: float
    uses: list[Use]
    counted_from: float | None


async def last_day(platform: Platform) -> History:
    """Count what jobs held in the last 24 hours, those included that are gone."""
    now = platform.clock.now()
    begin_at = now - N_STEPS * STEP_S
    over, still = await held_in(platform, Period(begin_at, now), MOST_HOLDINGS)
    spans = [
        Span(one.since, one.until, Resources(one.held.milli_cpus, one.held.memory_bytes, one.held.gpus))
        for one in (*over, *still)
    ]
    counted_from = over[-1].until if len(over) == MOST_HOLDINGS else None
    return History(begin_at, STEP_S, averages(spans, begin_at, STEP_S, N_STEPS), counted_from)
