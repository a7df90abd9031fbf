"""The catalogue of inference environments: everybody reads it, platform admins keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from footplate.domain.errors import InvalidInput, NotFound
from footplate.domain.model import InferenceEnvironment
from footplate.services import audit
from footplate.services.access import Caller, require_admin
from footplate.services.platform import Platform
from footplate.store import model_queries


async def all_environments(platform: Platform) -> list[InferenceEnvironment]:
    return await platform.store.read(model_queries.environments)


async def put(
    platform: Platform, caller: Caller, name: str, fields: Mapping[str, Any]
) -> InferenceEnvironment:
    """Add an environment, or change the one of this name; fields that are absent stay as they are."""
    require_admin(caller, "change_inference_environments")
    now = platform.clock.now()

    def unit(connection: sa.Connection) -> InferenceEnvironment:
        known = {one.name: one for one in model_queries.environments(connection)}
        before = known.get(name, InferenceEnvironment(name, "", created_at=now))
        made = replace(before, **fields, updated_at=now)
        if not made.image:
            raise InvalidInput("required", "image")
        model_queries.put_environment(connection, made)
        return made

    return await audit.change(platform, caller, "inference.set", name, unit)


async def remove(platform: Platform, caller: Caller, name: str) -> None:
    """Take an environment out of the catalogue; models that name it keep the name and its image."""
    require_admin(caller, "change_inference_environments")
    gone = await audit.change(
        platform,
        caller,
        "inference.removed",
        name,
        lambda connection: model_queries.remove_environment(connection, name),
    )
    if not gone:
        raise NotFound("inference_unknown", environment=name[:128])
