"""The catalogue of images over REST."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from footplate.domain.image import Image
from footplate.wire.body import Body, Text
from footplate.wire.convert import instant

ImageName = Annotated[Text, Field(min_length=1, max_length=63, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class ImageChange(Body):
    """An image; what is absent stays as it is."""

    reference: Text = Field(min_length=1, max_length=512, description="What is pulled: host/name:tag.")
    description: Text | None = Field(None, max_length=4096)
    framework: Text | None = Field(None, max_length=63)
    version: Text | None = Field(None, max_length=63)
    is_default: bool | None = Field(None, description="Whether people are offered it first; at most one is.")


class ImageBody(Body):
    name: str
    reference: str
    description: str
    framework: str
    version: str
    is_default: bool
    created_at: str
    updated_at: str


class Images(Body):
    items: list[ImageBody]


def details(body: ImageChange) -> dict[str, Any]:
    """What a change says beside the reference."""
    return body.model_dump(exclude={"reference"}, exclude_none=True)


def image_view(image: Image) -> dict[str, Any]:
    return {
        "name": image.name,
        "reference": image.reference,
        "description": image.description,
        "framework": image.framework,
        "version": image.version,
        "is_default": image.is_default,
        "created_at": instant(image.created_at),
        "updated_at": instant(image.updated_at),
    }
