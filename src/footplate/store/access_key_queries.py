"""Access keys, as sealed as they are stored."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import sqlalchemy as sa

from footplate.store.tables import access_keys


@dataclass(frozen=True, slots=True)
class AccessKey:
    """What may be told of a key; its secret is in `sealed`."""

    id: str
    user: str
    name: str
    created_at: float
    last_used_at: float | None = None
    sealed: bytes = field(default=b"", repr=False)


def _key(row: Any) -> AccessKey:
    return AccessKey(**{**row, "sealed": bytes(row["sealed"])})


def add(connection: sa.Connection, new: AccessKey) -> None:
    connection.execute(sa.insert(access_keys), asdict(new))


def find(connection: sa.Connection, key_id: str) -> AccessKey | None:
    row = connection.execute(sa.select(access_keys).where(access_keys.c.id == key_id)).mappings().first()
    return None if row is None else _key(row)


def all_of(connection: sa.Connection, user: str) -> list[AccessKey]:
    """Somebody's keys, oldest first."""
    query = sa.select(access_keys).where(access_keys.c.user == user).order_by(access_keys.c.created_at)
    return [_key(row) for row in connection.execute(query).mappings()]


def touch(connection: sa.Connection, key_id: str, at: float) -> None:
    connection.execute(sa.update(access_keys).where(access_keys.c.id == key_id).values(last_used_at=at))


def remove(connection: sa.Connection, user: str, key_id: str) -> bool:
    gone = sa.delete(access_keys).where(access_keys.c.user == user, access_keys.c.id == key_id)
    return connection.execute(gone).rowcount > 0


def remove_all_of(connection: sa.Connection, user: str) -> None:
    connection.execute(sa.delete(access_keys).where(access_keys.c.user == user))
