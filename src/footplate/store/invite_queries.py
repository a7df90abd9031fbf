"""Invitations that nobody has followed yet: one for each name, known by the digest of its code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from footplate.store.rows import dumps
from footplate.store.tables import invites


@dataclass(frozen=True, slots=True)
class Invite:
    """An invitation to create the account `user`, with these rights."""

    user: str
    digest: str
    is_admin: bool
    queues: Mapping[str, str]
    invited_by: str
    created_at: float
    expires_at: float


def put(connection: sa.Connection, new: Invite) -> None:
    """Store an invitation, in the place of an earlier one of the same name."""
    remove(connection, new.user)
    values = {name: getattr(new, name) for name in Invite.__dataclass_fields__}
    connection.execute(sa.insert(invites), {**values, "queues": dumps(dict(new.queues))})


def by_digest(connection: sa.Connection, digest: str) -> Invite | None:
    row = connection.execute(sa.select(invites).where(invites.c.digest == digest)).mappings().first()
    return None if row is None else _invite(row)


def every(connection: sa.Connection) -> list[Invite]:
    query = sa.select(invites).order_by(invites.c.user)
    return [_invite(row) for row in connection.execute(query).mappings()]


def remove(connection: sa.Connection, user: str) -> bool:
    return connection.execute(sa.delete(invites).where(invites.c.user == user)).rowcount > 0


def remove_expired(connection: sa.Connection, before: float) -> int:
    """Remove invitations that expired before an instant; return how many."""
    return connection.execute(sa.delete(invites).where(invites.c.expires_at < before)).rowcount


def _invite(row: sa.RowMapping) -> Invite:
    values: dict[str, Any] = {**row, "queues": json.loads(row["queues"])}
    return Invite(**values)
