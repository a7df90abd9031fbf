"""Bills for clients of systems that bill: one's own jobs in a period, with what they cost."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.dialects.prices import Prices
from footplate.domain.accounting import Holding, account
from footplate.services.access import Caller
from footplate.services.accounting import held_in
from footplate.services.platform import Platform
from footplate.store.holding_queries import Period


@dataclass(frozen=True, slots=True)
class Bill:
    """What one job took of a period, in seconds, and what that costs in hundredths of the currency."""

    job_id: str
    name: str
    seconds: int
    price: int


async def of(platform: Platform, caller: Caller, since: float, until: float, prices: Prices) -> list[Bill]:
    """The bills of the caller's own jobs, the newest job first."""
    over, still = await held_in(platform, Period(since, until, caller.name, "", caller.name, []))
    held = [*over, *still]
    seconds = _seconds(held, since, until)
    bills = [
        Bill(one.job_id, one.name, round(seconds.get(one.job_id, 0.0)), prices.of(one.used))
        for one in account(held, since, until)
    ]
    return sorted(bills, key=lambda one: one.job_id, reverse=True)


def _seconds(held: list[Holding], since: float, until: float) -> dict[str, float]:
    """How long each job held something; what it held of several kinds of cards at a time counts once."""
    spans = {(one.job_id, one.attempt, one.since): one for one in held}
    found: dict[str, float] = {}
    for one in spans.values():
        took = min(one.until, until) - max(one.since, since)
        if took > 0:
            found[one.job_id] = found.get(one.job_id, 0.0) + took
    return found
