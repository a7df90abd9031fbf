"""The catalogue of images over REST."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from footplate.server.auth import SIGNED_IN, Signed, Wired
from footplate.services import images
from footplate.wire import images as w
from footplate.wire.body import Text

router = APIRouter(tags=["images"])


@router.get("/images", response_model=w.Images, dependencies=[SIGNED_IN])
async def listed(parts: Wired) -> dict[str, Any]:
    """The images that admins recommend, the default first."""
    return {"items": [w.image_view(image) for image in images.all_images(parts.platform)]}


@router.put("/images/{name}", response_model=w.ImageBody)
async def put(parts: Wired, caller: Signed, name: w.ImageName, body: w.ImageChange) -> dict[str, Any]:
    """Add an image to the catalogue, or change it."""
    image = await images.put(parts.platform, caller, name, body.reference, w.details(body))
    return w.image_view(image)


@router.delete("/images/{name}", status_code=204)
async def remove(parts: Wired, caller: Signed, name: Text) -> Response:
    """Take an image out of the catalogue."""
    await images.remove(parts.platform, caller, name)
    return Response(status_code=204)
