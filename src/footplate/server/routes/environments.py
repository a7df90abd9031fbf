"""Environments over REST."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from footplate.server.auth import Signed, Wired
from footplate.services import environments
from footplate.wire import environments as w
from footplate.wire.body import Text

router = APIRouter(tags=["environments"])


@router.get("/environments", response_model=w.Environments)
async def listed(parts: Wired, caller: Signed) -> dict[str, Any]:
    """The environments that were built for the caller's jobs, for admins those of everybody."""
    return {"items": [w.environment_view(one) for one in await environments.mine(parts.platform, caller)]}


@router.get(
    "/environments/{name}/log",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}, "description": "What the build printed."}},
)
async def build_log(parts: Wired, caller: Signed, name: Text) -> Response:
    """What the build of an environment printed, of a long one the last 256 KB."""
    text = await environments.log_of(parts.platform, caller, name)
    return Response(text, media_type="text/plain; charset=utf-8")


@router.delete("/environments/{name}", status_code=204)
async def remove(parts: Wired, caller: Signed, name: Text) -> Response:
    """Remove an environment that no job uses, by its id."""
    await environments.remove(parts.platform, caller, name)
    return Response(status_code=204)
