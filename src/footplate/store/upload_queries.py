"""Who may use which uploaded code."""

from __future__ import annotations

import sqlalchemy as sa

from footplate.store.reach import Reach
from footplate.store.tables import jobs, uploads


def note(connection: sa.Connection, digest: str, user: str, at: float) -> None:
    """Record that a user has this code."""
    if not has(connection, digest, user):
        connection.execute(sa.insert(uploads).values(digest=digest, user=user, at=at))


def has(connection: sa.Connection, digest: str, user: str) -> bool:
    """Tell whether a user has uploaded or used this code before."""
    found = sa.select(uploads.c.at).where(uploads.c.digest == digest, uploads.c.user == user)
    return connection.execute(found).first() is not None


def is_in_a_job(connection: sa.Connection, digest: str, reach: Reach | None) -> bool:
    """Tell whether a job within somebody's reach has this code; None means all jobs."""
    readable = sa.true() if reach is None else reach.condition()
    # Digests are hexadecimal: nothing in them is a pattern.
    found = sa.select(jobs.c.id).where(readable, jobs.c.spec.like(f"%{digest}%")).limit(1)
    return connection.execute(found).first() is not None
