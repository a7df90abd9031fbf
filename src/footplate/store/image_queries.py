"""The catalogue of images, stored."""

from __future__ import annotations

from dataclasses import asdict

import sqlalchemy as sa

from footplate.domain.image import Image
from footplate.store.tables import images


def all_images(connection: sa.Connection) -> list[Image]:
    """Every image, the default first."""
    query = sa.select(images).order_by(images.c.is_default.desc(), images.c.name)
    return [
        Image(**{**row, "is_default": bool(row["is_default"])})
        for row in connection.execute(query).mappings()
    ]


def put_image(connection: sa.Connection, image: Image) -> None:
    """Store an image in place of the one of its name; a new default ends the one before."""
    remove_image(connection, image.name)
    if image.is_default:
        connection.execute(sa.update(images).values(is_default=False))
    connection.execute(sa.insert(images), asdict(image))


def remove_image(connection: sa.Connection, name: str) -> bool:
    return connection.execute(sa.delete(images).where(images.c.name == name)).rowcount > 0
