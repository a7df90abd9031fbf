"""Groups of people, and who people are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from footplate.store.grouptables import group_members, group_queues, groups, profiles


@dataclass(frozen=True, slots=True)
class Group:
    """A group; what is in `extension` is kept as it was sent."""

    name: str
    description: str = ""
    external_name: str = ""
    extension: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Profile:
    email: str = ""
    extension: Mapping[str, Any] = field(default_factory=dict)
    full_name: str = ""


def all_groups(connection: sa.Connection) -> list[Group]:
    return [_group(row) for row in connection.execute(sa.select(groups).order_by(groups.c.name))]


def find(connection: sa.Connection, name: str) -> Group | None:
    row = connection.execute(sa.select(groups).where(groups.c.name == name)).first()
    return None if row is None else _group(row)


def _group(row: Any) -> Group:
    return Group(row.name, row.description, row.external_name, json.loads(row.extension))


def put(connection: sa.Connection, group: Group, queues: Iterable[str]) -> None:
    """Store a group, in the place of one of the same name; its members stay."""
    connection.execute(sa.delete(groups).where(groups.c.name == group.name))
    connection.execute(sa.delete(group_queues).where(group_queues.c.group_name == group.name))
    values = {
        "name": group.name,
        "description": group.description,
        "external_name": group.external_name,
        "extension": json.dumps(group.extension),
    }
    connection.execute(sa.insert(groups), values)
    for queue in sorted(set(queues)):
        connection.execute(sa.insert(group_queues), {"group_name": group.name, "queue": queue})


def remove(connection: sa.Connection, name: str) -> bool:
    connection.execute(sa.delete(group_members).where(group_members.c.group_name == name))
    connection.execute(sa.delete(group_queues).where(group_queues.c.group_name == name))
    return connection.execute(sa.delete(groups).where(groups.c.name == name)).rowcount > 0


def members_of(connection: sa.Connection, name: str) -> list[str]:
    query = sa.select(group_members.c.user).where(group_members.c.group_name == name)
    return sorted(connection.scalars(query))


def groups_of(connection: sa.Connection, user: str) -> list[str]:
    return sorted(
        connection.scalars(sa.select(group_members.c.group_name).where(group_members.c.user == user))
    )


def queues_of(connection: sa.Connection, user: str) -> list[str]:
    """The queues that somebody may use as one of a group."""
    joined = group_queues.join(group_members, group_queues.c.group_name == group_members.c.group_name)
    query = sa.select(group_queues.c.queue).select_from(joined).where(group_members.c.user == user)
    return list(connection.scalars(query))


def users_of_storages(connection: sa.Connection) -> dict[str, set[str]]:
    """Who may use which storage as one of a group."""
    found: dict[str, set[str]] = {}
    for group in all_groups(connection):
        for storage in allowed_in(group, "storageConfigs"):
            found.setdefault(storage, set()).update(members_of(connection, group.name))
    return found


def allowed_in(group: Group, what: str) -> list[str]:
    """The names of queues or storages that a group is allowed, as its extension says."""
    acls = group.extension.get("acls")
    listed = acls.get(what) if isinstance(acls, Mapping) else None
    return [str(name) for name in listed] if isinstance(listed, list) else []


def set_groups(connection: sa.Connection, user: str, names: Iterable[str]) -> None:
    connection.execute(sa.delete(group_members).where(group_members.c.user == user))
    for name in sorted(set(names)):
        connection.execute(sa.insert(group_members), {"group_name": name, "user": user})


def profile(connection: sa.Connection, user: str) -> Profile:
    row = connection.execute(sa.select(profiles).where(profiles.c.user == user)).first()
    return Profile() if row is None else Profile(row.email, json.loads(row.extension), row.full_name)


def put_profile(connection: sa.Connection, user: str, kept: Profile) -> None:
    connection.execute(sa.delete(profiles).where(profiles.c.user == user))
    row = {
        "user": user,
        "email": kept.email,
        "extension": json.dumps(kept.extension),
        "full_name": kept.full_name,
    }
    connection.execute(sa.insert(profiles), row)


def forget_user(connection: sa.Connection, user: str) -> None:
    connection.execute(sa.delete(group_members).where(group_members.c.user == user))
    connection.execute(sa.delete(profiles).where(profiles.c.user == user))
