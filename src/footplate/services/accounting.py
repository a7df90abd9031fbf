"""Reports of what jobs used: one's own, those of the queues that one administers, all for platform admins."""

from __future__ import annotations

from dataclasses import replace

from footplate.domain.accounting import Account, Holding, Used, account, holdings_of, used
from footplate.domain.errors import InvalidInput
from footplate.domain.job import Job
from footplate.services.access import RANKS, Caller
from footplate.services.jobs import inspect
from footplate.services.platform import Platform
from footplate.store import holding_queries
from footplate.store.holding_queries import Period


async def accounts(
    platform: Platform, caller: Caller, since: float, until: float, user: str = "", queue: str = ""
) -> list[Account]:
    """What each job used in a period, those that run now included."""
    if since >= until:
        raise InvalidInput("period_empty", "until")
    administered = [name for name in caller.roles if caller.rank_in(name) >= RANKS["admin"]]
    queues = None if caller.is_admin else administered
    over, still = await held_in(platform, Period(since, until, user, queue, caller.name, queues))
    held = [*over, *still]
    costs = platform.price_book.costs(held, since, until)
    return [replace(one, cost=costs.get(one.job_id, 0.0)) for one in account(held, since, until)]


async def held_in(
    platform: Platform, period: Period, most: int | None = None
) -> tuple[list[Holding], list[Holding]]:
    """What was given back in a period, the last first and at most so many; and what is held still."""
    # First what is held now: what is given back meanwhile is in the database then, and counts there.
    now = platform.clock.now()
    living = [
        one
        for job in list(platform.store.board.values())
        if period.includes(job.owner, job.spec.queue)
        for one in holdings_of(job, now)
    ]
    over = await platform.store.read(lambda connection: holding_queries.within(connection, period, most))
    ended = {_key(one) for one in over}
    return over, [one for one in living if _key(one) not in ended]


async def account_of(platform: Platform, caller: Caller, id_or_name: str) -> tuple[Job, Used, float]:
    """What one job has used so far and what that cost, which those see who may look into it."""
    job = await inspect(platform, caller, id_or_name)
    now = platform.clock.now()
    still = holdings_of(job, now) if job.id in platform.store.board else []
    over = await platform.store.read(lambda connection: holding_queries.of_job(connection, job.id))
    ended = {_key(one) for one in over}
    held = [*over, *(one for one in still if _key(one) not in ended)]
    whole = Used()
    for one in held:
        whole += used(one.held, one.until - one.since)
    # To the end of what was held: a clock that was set back since takes nothing away.
    costs = platform.price_book.costs(held, 0.0, max((one.until for one in held), default=now))
    return job, whole, costs.get(job.id, 0.0)


def _key(one: Holding) -> tuple[str, int, float, str]:
    return one.job_id, one.attempt, one.since, one.held.gpu_type
