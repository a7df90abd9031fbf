"""Which jobs somebody may look into, as a condition for queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from footplate.store.tables import jobs


@dataclass(frozen=True, slots=True)
class Reach:
    """One's own jobs, all of some queues, and shared ones of others; `sharing` shares unless jobs refuse."""

    caller: str
    administered: Sequence[str] = ()
    joined: Sequence[str] = ()
    sharing: Sequence[str] = ()

    def condition(self) -> sa.ColumnElement[bool]:
        return sa.or_(
            jobs.c.owner == self.caller,
            jobs.c.queue.in_(self.administered),
            sa.and_(jobs.c.shared.is_(sa.true()), jobs.c.queue.in_(self.joined)),
            sa.and_(jobs.c.shared.is_(None), jobs.c.queue.in_(self.sharing)),
        )
