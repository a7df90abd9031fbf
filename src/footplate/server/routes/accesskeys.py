"""Access keys over REST: one's own, for clients that sign their requests."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from footplate.server.auth import Signed, Wired
from footplate.services import access_keys
from footplate.wire.accesskeys import AccessKeys, IssuedAccessKey, NewAccessKey
from footplate.wire.body import Text
from footplate.wire.convert import instant

router = APIRouter(prefix="/access-keys", tags=["accounts"])


@router.get("", response_model=AccessKeys)
async def keys(parts: Wired, caller: Signed) -> dict[str, Any]:
    """One's own access keys, without their secrets."""
    return {
        "items": [
            {
                "id": key.id,
                "name": key.name,
                "created_at": instant(key.created_at),
                "last_used_at": instant(key.last_used_at),
            }
            for key in await access_keys.all_of(parts.platform, caller)
        ]
    }


@router.post("", status_code=201, response_model=IssuedAccessKey)
async def create(parts: Wired, caller: Signed, body: NewAccessKey) -> dict[str, Any]:
    """Make an access key; its secret is shown this once."""
    key, secret = await access_keys.create(parts.platform, caller, body.name)
    return {"id": key.id, "name": key.name, "secret": secret, "created_at": instant(key.created_at)}


@router.delete("/{key_id}", status_code=204)
async def remove(parts: Wired, caller: Signed, key_id: Text) -> Response:
    """Delete one of one's own access keys; what is signed with it is refused from now on."""
    await access_keys.remove(parts.platform, caller, key_id)
    return Response(status_code=204)
