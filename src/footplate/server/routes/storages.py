"""Storages over REST."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from footplate.domain.storage import Storage
from footplate.server.auth import Signed, Wired
from footplate.services import storagekeeping, storages
from footplate.services.fileaccess import access_of
from footplate.wire import storages as w

router = APIRouter(prefix="/storages", tags=["storages"])


@router.get("", response_model=w.Storages)
async def listed(parts: Wired, caller: Signed) -> dict[str, Any]:
    """The storages that the caller and their jobs may use; where they lie is told to admins only."""
    usable = storages.all_usable(parts.platform, caller)
    return {"items": [w.storage_view(storage, access, caller.is_admin) for storage, access in usable]}


@router.post("", response_model=w.StorageBody, status_code=201)
async def add(parts: Wired, caller: Signed, body: w.NewStorage) -> dict[str, Any]:
    """Add a storage (admin)."""
    storage = Storage(**w.changes(body))
    added = await storagekeeping.add(parts.platform, caller, storage, w.credentials_of(body))
    return w.storage_view(added, access_of(caller, added), with_all=True)


@router.get("/{name}", response_model=w.StorageBody)
async def one(parts: Wired, caller: Signed, name: str) -> dict[str, Any]:
    """One storage."""
    storage, access = storages.one_usable(parts.platform, caller, name)
    return w.storage_view(storage, access, caller.is_admin)


@router.patch("/{name}", response_model=w.StorageBody)
async def edit(parts: Wired, caller: Signed, name: str, body: w.StorageFields) -> dict[str, Any]:
    """Change a storage that is kept in the database (admin)."""
    changes, credentials = w.changes(body), w.credentials_of(body)
    storage = await storagekeeping.edit(parts.platform, caller, name, changes, credentials)
    return w.storage_view(storage, access_of(caller, storage), with_all=True)


@router.delete("/{name}", status_code=204)
async def remove(parts: Wired, caller: Signed, name: str) -> Response:
    """Forget a storage (admin); its files stay where they are."""
    await storagekeeping.remove(parts.platform, caller, name)
    return Response(status_code=204)


@router.post("/{name}/check", status_code=204)
async def check(parts: Wired, caller: Signed, name: str) -> Response:
    """Ask the storage for its files, to see whether it answers (admin)."""
    await storagekeeping.test(parts.platform, caller, name)
    return Response(status_code=204)
