"""The database lease: heartbeats of the server that holds it, for standby servers."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from footplate.store import tables
from footplate.store.writer import LEASE


@dataclass(frozen=True, slots=True)
class Sign:
    """A heartbeat of the lease; it changes while its holder lives. Without a `holder` the lease is free."""

    epoch: int
    holder: str
    renewed_at: float | None


def renew(connection: sa.Connection, at: float) -> None:
    """Write a heartbeat."""
    connection.execute(_OURS.values(renewed_at=at))


def release(connection: sa.Connection) -> None:
    """Release the lease."""
    connection.execute(_OURS.values(holder=""))


_OURS = sa.update(tables.leases).where(tables.leases.c.name == LEASE)


def last_sign(engine: sa.Engine) -> Sign | None:
    """The last heartbeat of the lease holder; None if there never was one."""
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table("leases"):
            return None
        # Tables of an older version have fewer columns.
        found = connection.execute(
            sa.text("SELECT * FROM leases WHERE name = :name"), {"name": LEASE}
        ).mappings()
        row = found.first()
    return None if row is None else Sign(row["epoch"], row["holder"], row.get("renewed_at"))
