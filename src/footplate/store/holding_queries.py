"""What jobs held in a period."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa

from footplate.domain.accounting import Holding
from footplate.store import rows
from footplate.store.tables import holdings


@dataclass(frozen=True, slots=True)
class Period:
    """From one moment to another, and whose.

    Of `queues`, None being all, everybody's use is wanted, and of others that of the `reader`.
    """

    since: float
    until: float
    owner: str = ""
    queue: str = ""
    reader: str = ""
    queues: Collection[str] | None = None

    def includes(self, owner: str, queue: str) -> bool:
        """Tell whether what somebody used in a queue is wanted."""
        if (self.owner and owner != self.owner) or (self.queue and queue != self.queue):
            return False
        return self.queues is None or owner == self.reader or queue in self.queues


def of_job(connection: sa.Connection, job_id: str) -> list[Holding]:
    """List what a job has held and given back."""
    wanted = sa.select(holdings).where(holdings.c.job_id == job_id)
    return [rows.holding_from(dict(row)) for row in connection.execute(wanted).mappings()]


def within(connection: sa.Connection, period: Period, most: int | None = None) -> list[Holding]:
    """List what was held in a period and has been given back, the last first, and at most so many."""
    h = holdings.c
    wanted = sa.select(holdings).where(h.until > period.since, h.since < period.until)
    wanted = wanted.order_by(h.until.desc()).limit(most)
    if period.owner:
        wanted = wanted.where(h.owner == period.owner)
    if period.queue:
        wanted = wanted.where(h.queue == period.queue)
    if period.queues is not None:
        wanted = wanted.where(sa.or_(h.owner == period.reader, h.queue.in_(period.queues)))
    return [rows.holding_from(dict(row)) for row in connection.execute(wanted).mappings()]
