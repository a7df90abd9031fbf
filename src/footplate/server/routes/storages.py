"""Storages over REST."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from footplate.server.auth import Signed, Wired
from footplate.services import storages
from footplate.wire import storages as w

router = APIRouter(tags=["storages"])


@router.get("/storages", response_model=w.Storages)
async def listed(parts: Wired, caller: Signed) -> dict[str, Any]:
    """The storages that jobs of the caller may use; where they lie is told to admins only."""
    usable = storages.all_usable(parts.platform, caller)
    return {"items": [w.storage_view(storage, caller.is_admin) for storage in usable]}
