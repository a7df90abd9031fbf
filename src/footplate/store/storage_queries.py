"""Storages that admins keep, with their credentials sealed, and uploads that are under way."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

import sqlalchemy as sa

from footplate.domain.storage import Origin, Storage, StorageKind, Upload
from footplate.store.tables import storage_uploads, storages

# What is not part of the stored document: the key, and what says where it was found.
_BESIDE = ("name", "origin", "is_private", "is_own")
_LISTS = ("queues", "users", "writers")


def all_storages(connection: sa.Connection) -> list[Storage]:
    query = sa.select(storages.c.name, storages.c.document, storages.c.sealed).order_by(storages.c.name)
    return [_storage(row) for row in connection.execute(query).mappings()]


def _storage(row: Any) -> Storage:
    known = {field.name for field in fields(Storage)}
    values = {name: value for name, value in json.loads(row["document"]).items() if name in known}
    values |= {name: tuple(values[name]) for name in _LISTS if name in values}
    values["kind"] = StorageKind(values.get("kind", StorageKind.FOLDER))
    return Storage(name=row["name"], origin=Origin.DATABASE, is_private=row["sealed"] is not None, **values)


def sealed_of(connection: sa.Connection, name: str) -> bytes | None:
    """The credentials of a storage, sealed."""
    found = connection.scalar(sa.select(storages.c.sealed).where(storages.c.name == name))
    return None if found is None else bytes(found)


def put(connection: sa.Connection, storage: Storage, sealed: bytes | None, at: float) -> None:
    """Store a storage in place of the one of its name."""
    document = {name: value for name, value in asdict(storage).items() if name not in _BESIDE}
    created_at = connection.scalar(sa.select(storages.c.created_at).where(storages.c.name == storage.name))
    remove(connection, storage.name)
    row = {
        "name": storage.name,
        "document": json.dumps(document),
        "sealed": sealed,
        "created_at": at if created_at is None else created_at,
        "updated_at": at,
    }
    connection.execute(sa.insert(storages), row)


def remove(connection: sa.Connection, name: str) -> bool:
    return connection.execute(sa.delete(storages).where(storages.c.name == name)).rowcount > 0


def add_upload(connection: sa.Connection, upload: Upload) -> None:
    connection.execute(sa.insert(storage_uploads), asdict(upload))


def upload(connection: sa.Connection, upload_id: str) -> Upload | None:
    row = connection.execute(sa.select(storage_uploads).where(storage_uploads.c.id == upload_id)).mappings()
    found = row.first()
    return None if found is None else Upload(**{**found, "is_executable": bool(found["is_executable"])})


def uploads_of(connection: sa.Connection, storage: str, owner: str) -> list[Upload]:
    query = sa.select(storage_uploads).where(
        storage_uploads.c.storage == storage, storage_uploads.c.owner == owner
    )
    rows = connection.execute(query.order_by(storage_uploads.c.id)).mappings()
    return [Upload(**{**row, "is_executable": bool(row["is_executable"])}) for row in rows]


def advance_upload(connection: sa.Connection, upload_id: str, done_bytes: int) -> None:
    is_it = storage_uploads.c.id == upload_id
    connection.execute(sa.update(storage_uploads).where(is_it).values(done_bytes=done_bytes))


def remove_upload(connection: sa.Connection, upload_id: str) -> bool:
    gone = sa.delete(storage_uploads).where(storage_uploads.c.id == upload_id)
    return connection.execute(gone).rowcount > 0


def remove_uploads_before(connection: sa.Connection, at: float) -> int:
    return connection.execute(sa.delete(storage_uploads).where(storage_uploads.c.created_at < at)).rowcount
