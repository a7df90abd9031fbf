"""Who may use which uploaded code."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from footplate.store.tables import jobs, uploads


def note(connection: sa.Connection, digest: str, user: str, at: float) -> None:
    """Record that a user has this code."""
    if not has(connection, digest, user):
        connection.execute(sa.insert(uploads).values(digest=digest, user=user, at=at))


def has(connection: sa.Connection, digest: str, user: str) -> bool:
    """Tell whether a user has uploaded or used this code before."""
    found = sa.select(uploads.c.at).where(uploads.c.digest == digest, uploads.c.user == user)
    return connection.execute(found).first() is not None


def is_in_a_job(connection: sa.Connection, digest: str, owner: str, queues: Sequence[str] | None) -> bool:
    """Tell whether a job of this owner, or one in these queues, has this code; None means all queues."""
    mine = jobs.c.owner == owner
    readable = sa.true() if queues is None else sa.or_(mine, jobs.c.queue.in_(queues))
    # Digests are hexadecimal: nothing in them is a pattern.
    found = sa.select(jobs.c.id).where(readable, jobs.c.spec.like(f"%{digest}%")).limit(1)
    return connection.execute(found).first() is not None
