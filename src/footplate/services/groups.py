"""Groups of people and their profiles, as OpenPAI has them; a group's queues are open to its members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from footplate.domain.errors import Conflict, InvalidInput, NotFound
from footplate.services import audit
from footplate.services.access import Caller, require_admin, require_person
from footplate.services.platform import Platform
from footplate.store import account_queries as accounts
from footplate.store import group_queries as groups
from footplate.store.account_queries import User
from footplate.store.group_queries import Group, Profile


@dataclass(frozen=True, slots=True)
class Person:
    """An account with what clients of OpenPAI know of it."""

    user: User
    roles: Mapping[str, str]
    groups: Sequence[str]
    profile: Profile


def _person(connection: sa.Connection, user: User) -> Person:
    name = user.name
    return Person(
        user,
        accounts.roles_of(connection, name),
        groups.groups_of(connection, name),
        groups.profile(connection, name),
    )


async def people(platform: Platform, _caller: Caller) -> list[Person]:
    """Everybody; whoever is signed in may know who else is there, as in OpenPAI."""

    def query(connection: sa.Connection) -> list[Person]:
        return [_person(connection, user) for user in accounts.all_users(connection)]

    return await platform.store.read(query)


async def person(platform: Platform, _caller: Caller, name: str) -> Person:
    def query(connection: sa.Connection) -> Person | None:
        user = accounts.user(connection, name)
        return None if user is None else _person(connection, user)

    found = await platform.store.read(query)
    if found is None:
        raise NotFound("user_unknown", user=name[:64])
    return found


async def keep_profile(
    platform: Platform, caller: Caller, name: str, email: str | None, extension: Mapping[str, Any] | None
) -> None:
    """Change what is kept of a person: one's own, or as an admin that of others."""
    require_person(caller, "change_users")
    if caller.name != name:
        require_admin(caller, "change_users")
    known = (await person(platform, caller, name)).profile
    kept = Profile(
        known.email if email is None else email,
        known.extension if extension is None else {**known.extension, **extension},
        known.full_name,
    )
    if kept != known:
        await audit.change(
            platform,
            caller,
            "user.changed",
            name,
            lambda connection: groups.put_profile(connection, name, kept),
        )


async def set_queues(platform: Platform, caller: Caller, name: str, queues: Iterable[str]) -> None:
    """Make somebody a member of exactly these queues, apart from those of their groups."""
    require_admin(caller, "hand_out_roles")
    wanted = set(queues)
    unknown = sorted(wanted - set(platform.cluster.queues))
    if unknown:
        raise InvalidInput("queue_unknown", "virtualCluster", queue=unknown[0])
    await person(platform, caller, name)

    def unit(connection: sa.Connection) -> None:
        grouped = set(groups.queues_of(connection, name))
        own = accounts.roles_of(connection, name)
        for queue in own.keys() - wanted:
            accounts.remove_member(connection, queue, name)
        for queue in wanted - grouped:
            if own.get(queue) not in ("member", "admin"):
                accounts.put_member(connection, queue, name, "member")

    await audit.change(platform, caller, "member.set", name, unit, queues=sorted(wanted))


async def all_groups(platform: Platform, _caller: Caller) -> list[Group]:
    return await platform.store.read(groups.all_groups)


async def find(platform: Platform, _caller: Caller, name: str) -> Group:
    found = await platform.store.read(lambda connection: groups.find(connection, name))
    if found is None:
        raise NotFound("group_unknown", group=name[:64])
    return found


async def members(platform: Platform, caller: Caller, name: str) -> list[User]:
    require_admin(caller, "list_users")

    def query(connection: sa.Connection) -> list[User]:
        found = (accounts.user(connection, user) for user in groups.members_of(connection, name))
        return [user for user in found if user is not None]

    return await platform.store.read(query)


async def add(platform: Platform, caller: Caller, group: Group) -> None:
    require_admin(caller, "change_groups")
    _check(platform, group)

    def unit(connection: sa.Connection) -> None:
        if groups.find(connection, group.name) is not None:
            raise Conflict("group_exists", group=group.name)
        groups.put(connection, group, queues_in(group))

    await audit.change(platform, caller, "group.added", group.name, unit)
    await _reload(platform)


async def change(platform: Platform, caller: Caller, name: str, changes: Mapping[str, Any]) -> None:
    require_admin(caller, "change_groups")
    changed = replace(await find(platform, caller, name), **changes)
    _check(platform, changed)
    await audit.change(
        platform,
        caller,
        "group.changed",
        name,
        lambda connection: groups.put(connection, changed, queues_in(changed)),
    )
    await _reload(platform)


async def remove(platform: Platform, caller: Caller, name: str) -> None:
    require_admin(caller, "change_groups")
    gone = await audit.change(
        platform, caller, "group.removed", name[:64], lambda connection: groups.remove(connection, name)
    )
    if not gone:
        raise NotFound("group_unknown", group=name[:64])
    await _reload(platform)


async def set_groups(platform: Platform, caller: Caller, user: str, names: Sequence[str]) -> None:
    """Make somebody one of exactly these groups."""
    require_admin(caller, "change_groups")
    await person(platform, caller, user)

    def unit(connection: sa.Connection) -> None:
        for name in names:
            if groups.find(connection, name) is None:
                raise NotFound("group_unknown", group=name[:64])
        groups.set_groups(connection, user, names)

    await audit.change(platform, caller, "group.members", user, unit, groups=sorted(names))
    await _reload(platform)


def queues_in(group: Group) -> list[str]:
    """The queues that a group is allowed."""
    return groups.allowed_in(group, "virtualClusters")


async def _reload(platform: Platform) -> None:
    """Let storages know who may use them as one of a group."""
    await platform.store.write(lambda tx: platform.storages.load(tx.connection))


def _check(platform: Platform, group: Group) -> None:
    unknown = sorted(set(queues_in(group)) - set(platform.cluster.queues))
    if unknown:
        raise InvalidInput("queue_unknown", "extension.acls.virtualClusters", queue=unknown[0])
