"""What a caller may do with models: look, describe, tag, share, name versions, delete, restore."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from footplate.domain.errors import Conflict
from footplate.domain.model import Comparison, Model, Version, compare
from footplate.services import audit
from footplate.services.access import Caller
from footplate.services.modelaccess import (
    find,
    find_version,
    require_alias,
    require_change,
    seek,
    seen_by,
    version_of,
)
from footplate.services.platform import Platform
from footplate.services.registering import in_environment, new_model
from footplate.store import model_queries
from footplate.store.model_queries import ModelFilter


@dataclass(frozen=True, slots=True)
class Listed:
    """A model with its highest version, and how many versions and bytes there are."""

    model: Model
    latest: Version | None
    n_versions: int
    size_bytes: int


async def page(
    platform: Platform, caller: Caller, wanted: ModelFilter, after: tuple[float, str] | None, limit: int
) -> list[Listed]:
    """One page of the models that the caller may see, the last that changed first."""
    seen = replace(wanted, reader=caller.name, queues=seen_by(caller))

    def query(connection: sa.Connection) -> list[Listed]:
        return _listed(connection, model_queries.page(connection, seen, after, limit))

    return await platform.store.read(query)


def _listed(connection: sa.Connection, found: list[Model]) -> list[Listed]:
    latest = model_queries.latest_of(connection, [one.id for one in found])
    return [Listed(one, *latest.get(one.id, (None, 0, 0))) for one in found]


async def show(
    platform: Platform, caller: Caller, id_or_name: str, trash: bool = False
) -> tuple[Listed, list[Version]]:
    """A model with its versions, the highest first; `trash` adds deleted ones, for who may restore them."""

    def query(connection: sa.Connection) -> tuple[Listed, list[Version]]:
        model = seek(connection, caller, id_or_name)
        if trash:
            require_change(caller, model)
        return _listed(connection, [model])[0], model_queries.versions_of(connection, model.id, trash)

    return await platform.store.read(query)


async def compared(
    platform: Platform, caller: Caller, id_or_name: str, first: str, second: str
) -> tuple[Version, Version, Comparison]:
    """Compare two versions of a model."""
    _, one = await find_version(platform, caller, id_or_name, first)
    _, other = await find_version(platform, caller, id_or_name, second)
    return one, other, compare(one, other)


async def create(
    platform: Platform, caller: Caller, name: str, description: str = "", tags: tuple[str, ...] = ()
) -> Model:
    """Make a model that has no version yet."""
    now = platform.clock.now()

    def unit(connection: sa.Connection) -> Model:
        if model_queries.named(connection, name, caller.name):
            raise Conflict("model_name_taken", model=name)
        made = replace(new_model(name, caller.name, now), description=description, tags=tags)
        model_queries.put(connection, made)
        return made

    return await platform.store.write(lambda tx: unit(tx.connection))


async def edit(platform: Platform, caller: Caller, id_or_name: str, changes: Mapping[str, Any]) -> Model:
    """Change name, description, tags, or whether everybody may see a model."""

    def change(connection: sa.Connection, model: Model) -> Model:
        name = changes.get("name", model.name)
        if name != model.name and model_queries.named(connection, name, model.owner):
            raise Conflict("model_name_taken", model=name)
        return replace(model, **changes)

    return await _change(platform, caller, id_or_name, change)


async def edit_version(
    platform: Platform, caller: Caller, id_or_name: str, which: str, changes: Mapping[str, Any]
) -> tuple[Model, Version]:
    """Change what is said of a version; its files and where it comes from never change."""
    changed: list[Version] = []

    def change(connection: sa.Connection, model: Model) -> Model:
        version = version_of(connection, model, which)
        said = replace(version.about, **changes)
        said = in_environment(connection, said) if "environment" in changes else said
        changed.append(replace(version, about=said))
        model_queries.change_version(connection, changed[0])
        return model

    model = await _change(platform, caller, id_or_name, change)
    return model, changed[0]


async def set_alias(platform: Platform, caller: Caller, id_or_name: str, alias: str, which: str) -> Model:
    """Let an alias name a version; it moves from the version that had it before."""
    require_alias(alias)

    def change(connection: sa.Connection, model: Model) -> Model:
        number = version_of(connection, model, which).number
        return replace(model, aliases={**model.aliases, alias: number})

    return await _change(platform, caller, id_or_name, change)


async def remove_alias(platform: Platform, caller: Caller, id_or_name: str, alias: str) -> Model:
    def change(_connection: sa.Connection, model: Model) -> Model:
        return replace(model, aliases={name: of for name, of in model.aliases.items() if name != alias})

    return await _change(platform, caller, id_or_name, change)


Change = Callable[[sa.Connection, Model], Model]


async def _change(platform: Platform, caller: Caller, id_or_name: str, change: Change) -> Model:
    """Change a model as it stands in the commit; what admins do to a model of somebody else is noted."""
    found = await find(platform, caller, id_or_name)
    require_change(caller, found)

    def unit(connection: sa.Connection) -> Model:
        model = seek(connection, caller, found.id)
        if model.deleted_at is not None:
            raise Conflict("model_in_trash", model=model.name)
        after = replace(change(connection, model), updated_at=platform.clock.now())
        model_queries.put(connection, after)
        return after

    if caller.name == found.owner:
        return await platform.store.write(lambda tx: unit(tx.connection))
    return await audit.change(
        platform, caller, "model.changed", found.id, unit, name=found.name, owner=found.owner
    )


# The trash


async def delete(platform: Platform, caller: Caller, id_or_name: str, for_good: bool = False) -> None:
    """Put a model into the trash, with all its versions, or remove it for good."""
    found = await find(platform, caller, id_or_name)
    require_change(caller, found)
    now = platform.clock.now()

    def unit(connection: sa.Connection) -> None:
        model = seek(connection, caller, found.id)
        if for_good:
            model_queries.remove_model(connection, model.id)
        elif model.deleted_at is not None:
            raise Conflict("model_in_trash", model=model.name)
        else:
            model_queries.put(connection, replace(model, deleted_at=now))

    await _noted(platform, caller, found, unit)


async def delete_version(
    platform: Platform, caller: Caller, id_or_name: str, which: str, for_good: bool = False
) -> None:
    """Put one version into the trash, or remove it for good; aliases that name it go."""
    found, version = await find_version(platform, caller, id_or_name, which, trash=True)
    require_change(caller, found)
    now = platform.clock.now()

    def unit(connection: sa.Connection) -> None:
        model = seek(connection, caller, found.id)
        current = version_of(connection, model, str(version.number), trash=True)
        if current.deleted_at is not None and not for_good:
            raise Conflict("version_in_trash", model=model.name, version=current.number)
        if for_good:
            model_queries.remove_version(connection, model.id, current.number)
        else:
            model_queries.change_version(connection, replace(current, deleted_at=now))
        kept = {name: of for name, of in model.aliases.items() if of != current.number}
        model_queries.put(connection, replace(model, aliases=kept, updated_at=now))

    await _noted(platform, caller, found, unit)


async def restore(platform: Platform, caller: Caller, model_id: str) -> Model:
    """Take a model out of the trash; one whose name was taken meanwhile must be named anew."""
    found = await find(platform, caller, model_id)
    require_change(caller, found)

    def unit(connection: sa.Connection) -> Model:
        model = seek(connection, caller, found.id)
        if model.deleted_at is None:
            raise Conflict("model_not_in_trash", model=model.name)
        if model_queries.named(connection, model.name, model.owner):
            raise Conflict("model_name_taken", model=model.name)
        after = replace(model, deleted_at=None, updated_at=platform.clock.now())
        model_queries.put(connection, after)
        return after

    return await platform.store.write(lambda tx: unit(tx.connection))


async def restore_version(platform: Platform, caller: Caller, id_or_name: str, number: str) -> Version:
    found, version = await find_version(platform, caller, id_or_name, number, trash=True)
    require_change(caller, found)

    def unit(connection: sa.Connection) -> Version:
        current = version_of(connection, found, str(version.number), trash=True)
        if current.deleted_at is None:
            raise Conflict("version_not_in_trash", model=found.name, version=current.number)
        after = replace(current, deleted_at=None)
        model_queries.change_version(connection, after)
        return after

    return await platform.store.write(lambda tx: unit(tx.connection))


async def _noted(
    platform: Platform, caller: Caller, model: Model, unit: Callable[[sa.Connection], None]
) -> None:
    if caller.name == model.owner:
        await platform.store.write(lambda tx: unit(tx.connection))
        return
    await audit.change(platform, caller, "model.deleted", model.id, unit, name=model.name, owner=model.owner)
