"""Who may see and change which models: their owners, admins of their queues, and all see the shared ones."""

from __future__ import annotations

import sqlalchemy as sa

from footplate.domain.errors import Conflict, Denied, InvalidInput, NotFound
from footplate.domain.model import LATEST, Model, Version
from footplate.services.access import RANKS, Caller
from footplate.services.platform import Platform
from footplate.store import model_queries


def may_change(caller: Caller, model: Model) -> bool:
    return caller.name == model.owner or _administers(caller, model)


def _administers(caller: Caller, model: Model) -> bool:
    return caller.is_admin or (bool(model.queue) and caller.rank_in(model.queue) >= RANKS["admin"])


def may_read(caller: Caller, model: Model) -> bool:
    """Those who may change a model, and of a shared one everybody, unless it is in the trash."""
    return may_change(caller, model) or (model.is_shared and model.deleted_at is None)


def require_change(caller: Caller, model: Model) -> None:
    if not may_change(caller, model):
        raise Denied("not_your_model", model=model.name, owner=model.owner)


def seen_by(caller: Caller) -> list[str] | None:
    """The queues whose models the caller sees all; None means everywhere."""
    if caller.is_admin:
        return None
    return [name for name in caller.roles if caller.rank_in(name) >= RANKS["admin"]]


async def find(platform: Platform, caller: Caller, id_or_name: str) -> Model:
    """Find a model by its id, or by name: among the caller's own first, else among those that they see."""
    return await platform.store.read(lambda connection: seek(connection, caller, id_or_name))


def seek(connection: sa.Connection, caller: Caller, id_or_name: str) -> Model:
    found = model_queries.by_id(connection, id_or_name)
    if found is not None and may_read(caller, found):
        return found
    named = model_queries.named(connection, id_or_name)
    own = next((one for one in named if one.owner == caller.name), None)
    if own is not None:
        return own
    seen = [one for one in named if may_read(caller, one)]
    if len(seen) > 1:
        known = [f"{one.id} ({one.owner})" for one in seen]
        raise Conflict("several_models", model=id_or_name[:128], known=known)
    if not seen:
        raise NotFound("model_unknown", model=id_or_name[:128])
    return seen[0]


async def find_version(
    platform: Platform, caller: Caller, id_or_name: str, which: str = LATEST, trash: bool = False
) -> tuple[Model, Version]:
    """Find a version by its number, or by an alias of the model."""

    def query(connection: sa.Connection) -> tuple[Model, Version]:
        model = seek(connection, caller, id_or_name)
        return model, version_of(connection, model, which, trash)

    return await platform.store.read(query)


def version_of(connection: sa.Connection, model: Model, which: str, trash: bool = False) -> Version:
    number = _number(connection, model, which)
    found = None if number is None else model_queries.version(connection, model.id, number)
    if found is None or (found.deleted_at is not None and not trash):
        raise NotFound("version_unknown", model=model.name, version=which[:64])
    return found


def _number(connection: sa.Connection, model: Model, which: str) -> int | None:
    if which == LATEST:
        versions = model_queries.versions_of(connection, model.id)
        return versions[0].number if versions else None
    plain = which.removeprefix("v")
    if plain.isdecimal() and len(plain) < 10:
        return int(plain)
    return model.aliases.get(which)


def require_alias(alias: str) -> None:
    if alias == LATEST:
        raise InvalidInput("alias_reserved", "alias", alias=alias)
