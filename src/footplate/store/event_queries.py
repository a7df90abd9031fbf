"""Reading the event log."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from footplate.store.rows import EventRecord, event_from
from footplate.store.tables import events


def after(
    connection: sa.Connection,
    seq: int,
    limit: int,
    job_id: str | None = None,
    caller: str = "",
    visible_queues: Sequence[str] | None = None,
    kinds: Sequence[str] = (),
) -> list[EventRecord]:
    """Events numbered above `seq`, in order: of one job, or of all that the caller may see.

    With `kinds`, only events of those.
    """
    query = sa.select(events).where(events.c.seq > seq).order_by(events.c.seq).limit(limit)
    if job_id is not None:
        query = query.where(events.c.job_id == job_id)
    if kinds:
        query = query.where(events.c.kind.in_(kinds))
    if visible_queues is not None:
        query = query.where(sa.or_(events.c.owner == caller, events.c.queue.in_(visible_queues)))
    return [event_from(dict(row)) for row in connection.execute(query).mappings()]


def last_seq(connection: sa.Connection) -> int:
    return connection.scalar(sa.select(sa.func.max(events.c.seq))) or 0
