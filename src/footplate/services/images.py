"""The catalogue of images: everybody reads it, platform admins keep it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from footplate.domain.errors import InvalidInput, NotFound
from footplate.domain.image import Image
from footplate.services import audit
from footplate.services.access import Caller, require_admin
from footplate.services.platform import Platform
from footplate.store import image_queries

_REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,511}")


def all_images(platform: Platform) -> list[Image]:
    """Every image, the default first."""
    return list(platform.images.images.values())


async def put(
    platform: Platform, caller: Caller, name: str, reference: str, details: Mapping[str, Any]
) -> Image:
    """Add an image, or change the one of this name; details that are absent stay as they are."""
    require_admin(caller, "change_catalogue_of_images")
    if not _REFERENCE.fullmatch(reference) or "://" in reference:
        raise InvalidInput("not_image_reference", "reference")
    now = platform.clock.now()

    def unit(connection: sa.Connection) -> Image:
        known = {image.name: image for image in image_queries.all_images(connection)}
        before = known.get(name, Image(name, reference, created_at=now))
        image = replace(before, reference=reference, updated_at=now, **details)
        image_queries.put_image(connection, image)
        return image

    image = await audit.change(platform, caller, "image.set", name, unit, reference=reference)
    await _reload(platform)
    return image


async def remove(platform: Platform, caller: Caller, name: str) -> None:
    """Take an image out of the catalogue; jobs that name it ask for an image of just that name then."""
    require_admin(caller, "change_catalogue_of_images")
    gone = await audit.change(
        platform,
        caller,
        "image.removed",
        name,
        lambda connection: image_queries.remove_image(connection, name),
    )
    if not gone:
        raise NotFound("image_not_listed", image=name[:64])
    await _reload(platform)


async def _reload(platform: Platform) -> None:
    # Through the writer, whose units run one after the other: the last to load has seen every change.
    await platform.store.write(lambda tx: platform.images.load(tx.connection))
