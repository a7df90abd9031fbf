"""Secrets, as sealed as they are stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from footplate.domain.secret import Secret, SecretKind
from footplate.store.tables import secrets

_TOLD = [column for column in secrets.c if column.name not in ("scope", "sealed")]


@dataclass(frozen=True, slots=True)
class SealedSecret:
    secret: Secret
    sealed: bytes = field(repr=False)


def _secret(row: Any) -> Secret:
    values = {column.name: row[column.name] for column in _TOLD}
    return Secret(**{**values, "kind": SecretKind(values["kind"])})


def told(connection: sa.Connection, scopes: Sequence[str]) -> list[Secret]:
    """What may be told of the secrets of some scopes."""
    query = sa.select(*_TOLD).where(secrets.c.scope.in_(scopes)).order_by(secrets.c.name, secrets.c.scope)
    return [_secret(row) for row in connection.execute(query).mappings()]


def find(connection: sa.Connection, scopes: Sequence[str], names: Iterable[str]) -> dict[str, SealedSecret]:
    """Secrets by name; where several scopes have one, that of the first scope."""
    query = sa.select(secrets).where(secrets.c.scope.in_(scopes), secrets.c.name.in_(set(names)))
    rows = sorted(
        connection.execute(query).mappings(), key=lambda row: scopes.index(row["scope"]), reverse=True
    )
    return {row["name"]: SealedSecret(_secret(row), bytes(row["sealed"])) for row in rows}


def put(connection: sa.Connection, secret: Secret, sealed: bytes) -> None:
    """Store a secret in place of the one of its scope and name."""
    remove(connection, secret.scope, secret.name)
    values = {column.name: getattr(secret, column.name) for column in _TOLD}
    connection.execute(
        sa.insert(secrets), {**values, "kind": secret.kind.value, "scope": secret.scope, "sealed": sealed}
    )


def n_in(connection: sa.Connection, scope: str) -> int:
    query = sa.select(sa.func.count()).select_from(secrets).where(secrets.c.scope == scope)
    return connection.scalar(query) or 0


def touch(connection: sa.Connection, used: Iterable[Secret], at: float) -> None:
    for secret in used:
        is_it = sa.and_(secrets.c.scope == secret.scope, secrets.c.name == secret.name)
        connection.execute(sa.update(secrets).where(is_it).values(last_used_at=at))


def remove(connection: sa.Connection, scope: str, name: str) -> bool:
    gone = sa.delete(secrets).where(secrets.c.scope == scope, secrets.c.name == name)
    return connection.execute(gone).rowcount > 0


def remove_scope(connection: sa.Connection, scope: str) -> None:
    """Remove all secrets of a deleted user or queue."""
    connection.execute(sa.delete(secrets).where(secrets.c.scope == scope))
