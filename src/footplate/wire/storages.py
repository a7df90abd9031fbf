"""Storages over REST."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from footplate.domain.storage import Storage
from footplate.wire.body import Body


class StorageBody(Body):
    name: str
    description: str
    read_only: bool
    queues: list[str] = Field(description="Queues whose jobs may use it; empty: all.")
    path: str | None = Field(None, description="Its folder on the server's machine, for admins.")


class Storages(Body):
    items: list[StorageBody]


def storage_view(storage: Storage, with_path: bool) -> dict[str, Any]:
    return {
        "name": storage.name,
        "description": storage.description,
        "read_only": storage.read_only,
        "queues": list(storage.queues),
        "path": storage.path if with_path else None,
    }
