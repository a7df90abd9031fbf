"""Users, their tokens and their places in queues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from footplate.domain.secret import user_scope
from footplate.store import access_key_queries, alert_queries, group_queries, ssh_key_queries
from footplate.store.secret_queries import remove_scope
from footplate.store.tables import members, people, tokens, users


@dataclass(frozen=True, slots=True)
class User:
    name: str
    password_hash: str
    is_admin: bool
    is_enabled: bool
    created_at: float
    last_seen_at: float | None = None


@dataclass(frozen=True, slots=True)
class Token:
    id: str
    user: str
    name: str
    digest: str
    created_at: float
    expires_at: float | None
    last_used_at: float | None


def user(connection: sa.Connection, name: str) -> User | None:
    row = connection.execute(sa.select(users).where(users.c.name == name)).mappings().first()
    return None if row is None else User(**row)


def all_users(connection: sa.Connection) -> list[User]:
    return [User(**row) for row in connection.execute(sa.select(users).order_by(users.c.name)).mappings()]


def add_user(connection: sa.Connection, new: User) -> None:
    connection.execute(
        sa.insert(users),
        {
            "name": new.name,
            "password_hash": new.password_hash,
            "is_admin": new.is_admin,
            "is_enabled": new.is_enabled,
            "created_at": new.created_at,
        },
    )


def change_user(connection: sa.Connection, name: str, changes: Mapping[str, Any]) -> None:
    connection.execute(sa.update(users).where(users.c.name == name).values(**changes))


def remove_user(connection: sa.Connection, name: str) -> None:
    remove_tokens_of(connection, name)
    connection.execute(sa.delete(members).where(members.c.user == name))
    group_queries.forget_user(connection, name)
    # A later account of the same name must not find them, nor be the same to the machine.
    remove_scope(connection, user_scope(name))
    alert_queries.remove_all_of_user(connection, name)
    ssh_key_queries.remove_all_of(connection, name)
    connection.execute(sa.update(people).where(people.c.name == name).values(name=None))
    connection.execute(sa.delete(users).where(users.c.name == name))


def n_admins(connection: sa.Connection) -> int:
    query = sa.select(sa.func.count()).select_from(users).where(users.c.is_admin, users.c.is_enabled)
    return connection.scalar(query) or 0


def roles_of(connection: sa.Connection, name: str) -> dict[str, str]:
    """Somebody's role in each queue, by themselves or as one of a group."""
    query = sa.select(members.c.queue, members.c.role).where(members.c.user == name)
    own = {row.queue: row.role for row in connection.execute(query)}
    grouped = dict.fromkeys(group_queries.queues_of(connection, name), "member")
    # A viewer by themselves who is in a group that may submit, may submit.
    return {
        **grouped,
        **{queue: role for queue, role in own.items() if role != "viewer" or queue not in grouped},
    }


def members_of(connection: sa.Connection, queue: str) -> dict[str, str]:
    query = sa.select(members.c.user, members.c.role).where(members.c.queue == queue).order_by(members.c.user)
    return {row.user: row.role for row in connection.execute(query)}


def put_member(connection: sa.Connection, queue: str, name: str, role: str) -> None:
    remove_member(connection, queue, name)
    connection.execute(sa.insert(members), {"queue": queue, "user": name, "role": role})


def remove_member(connection: sa.Connection, queue: str, name: str) -> bool:
    gone = sa.delete(members).where(members.c.queue == queue, members.c.user == name)
    return connection.execute(gone).rowcount > 0


def add_token(connection: sa.Connection, new: Token) -> None:
    connection.execute(sa.insert(tokens), {name: getattr(new, name) for name in Token.__dataclass_fields__})


def token_by_digest(connection: sa.Connection, digest: str) -> Token | None:
    row = connection.execute(sa.select(tokens).where(tokens.c.digest == digest)).mappings().first()
    return None if row is None else Token(**row)


def tokens_of(connection: sa.Connection, name: str) -> list[Token]:
    query = sa.select(tokens).where(tokens.c.user == name).order_by(tokens.c.created_at)
    return [Token(**row) for row in connection.execute(query).mappings()]


def remove_token(connection: sa.Connection, name: str, token_id: str) -> bool:
    gone = sa.delete(tokens).where(tokens.c.user == name, tokens.c.id == token_id)
    return connection.execute(gone).rowcount > 0


def remove_tokens_but(connection: sa.Connection, name: str, token_id: str) -> int:
    """Remove somebody's tokens except one; return how many."""
    gone = sa.delete(tokens).where(tokens.c.user == name, tokens.c.id != token_id)
    return connection.execute(gone).rowcount


def remove_token_by_digest(connection: sa.Connection, digest: str) -> None:
    connection.execute(sa.delete(tokens).where(tokens.c.digest == digest))


def remove_tokens_named(connection: sa.Connection, name: str, label: str) -> int:
    """Remove somebody's tokens of one name; return how many."""
    gone = sa.delete(tokens).where(tokens.c.user == name, tokens.c.name == label)
    return connection.execute(gone).rowcount


def remove_tokens_of(connection: sa.Connection, name: str) -> None:
    """Remove all by which somebody is known: tokens, and access keys."""
    access_key_queries.remove_all_of(connection, name)
    connection.execute(sa.delete(tokens).where(tokens.c.user == name))


def remove_expired_tokens(connection: sa.Connection, before: float) -> int:
    """Remove tokens that expired before an instant; return how many."""
    return connection.execute(sa.delete(tokens).where(tokens.c.expires_at < before)).rowcount


def touch_token(connection: sa.Connection, token: Token, at: float) -> None:
    """Keep when a token was used last, and its owner seen."""
    connection.execute(sa.update(tokens).where(tokens.c.id == token.id).values(last_used_at=at))
    connection.execute(sa.update(users).where(users.c.name == token.user).values(last_seen_at=at))
