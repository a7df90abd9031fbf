"""The event log as a caller sees it."""

from __future__ import annotations

from collections.abc import Sequence

from footplate.services.access import Caller, may_read, may_see, visible_queues
from footplate.services.outlines import outline_of
from footplate.services.platform import Platform
from footplate.store import event_queries, job_queries
from footplate.store.rows import EventRecord


async def page(
    platform: Platform,
    caller: Caller,
    after: int,
    limit: int,
    job_id: str | None = None,
    kinds: Sequence[str] = (),
) -> list[EventRecord]:
    """Events numbered above `after`: of one job that the caller was found to see, or of all such jobs."""
    queues = None if job_id is not None else visible_queues(caller)
    found = await platform.store.read(
        lambda connection: event_queries.after(connection, after, limit, job_id, caller.name, queues, kinds)
    )
    return await _as_seen(platform, caller, found)


async def visible(platform: Platform, caller: Caller, events: Sequence[EventRecord]) -> list[EventRecord]:
    """Those of some events that a caller may hear of, as the caller may hear of them."""
    heard = [event for event in events if may_see(caller, event.owner, event.queue)]
    return await _as_seen(platform, caller, heard)


async def _as_seen(platform: Platform, caller: Caller, events: Sequence[EventRecord]) -> list[EventRecord]:
    unsure = {event.job_id for event in events if not _may_read(platform, caller, event, False)}
    shares = await _shares_of(platform, unsure)
    return [
        event
        if event.job_id not in unsure or _may_read(platform, caller, event, shares.get(event.job_id, False))
        else outline_of(event)
        for event in events
    ]


def _may_read(platform: Platform, caller: Caller, event: EventRecord, shared: bool | None) -> bool:
    return may_read(caller, platform.cluster.queues, event.owner, event.queue, shared)


async def _shares_of(platform: Platform, job_ids: set[str]) -> dict[str, bool | None]:
    """What jobs say about being shared: those that live by heart, the others from their rows."""
    board = platform.store.board
    living = {job_id: board[job_id].spec.shared for job_id in job_ids if job_id in board}
    others = job_ids - living.keys()
    if not others:
        return living
    return living | await platform.store.read(lambda connection: job_queries.shares_of(connection, others))
