"""Secrets over REST."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from footplate.domain.errors import InvalidInput, problem
from footplate.server.auth import Signed, Wired
from footplate.services import secrets
from footplate.wire import secrets as w
from footplate.wire.body import Text

router = APIRouter(tags=["secrets"])


@router.get("/secrets", response_model=w.Secrets)
async def listed(parts: Wired, caller: Signed) -> dict[str, Any]:
    """The secrets that the caller's jobs may use, without their values."""
    return {"items": [w.secret_view(one) for one in await secrets.all_usable(parts.platform, caller)]}


@router.put("/secrets/{name}", response_model=w.SecretBody)
async def put(parts: Wired, caller: Signed, name: w.SecretName, body: w.SecretChange) -> dict[str, Any]:
    """Set a secret; the value can be replaced and used, but not read back."""
    stray = w.stray_fields(body)
    if stray:
        raise InvalidInput(problem(field, "not_of_secret_kind", kind=body.kind) for field in stray)
    secret = await secrets.put(parts.platform, caller, name, body.queue or "", w.content(body))
    return w.secret_view(secret)


@router.delete("/secrets/{name}", status_code=204)
async def remove(parts: Wired, caller: Signed, name: Text, queue: Text | None = None) -> Response:
    """Delete a secret: the caller's own, or that of a queue."""
    await secrets.remove(parts.platform, caller, name, queue or "")
    return Response(status_code=204)
