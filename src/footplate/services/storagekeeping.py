"""What platform admins may do with storages: add, change, try and remove them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa

from footplate.domain.errors import Conflict, InvalidInput, NotFound, Problem, problem
from footplate.domain.storage import OWN, Origin, Storage, StorageKind, overlap
from footplate.services import audit
from footplate.services.access import Caller, require_admin
from footplate.services.fileaccess import told
from footplate.services.platform import Platform
from footplate.storages.base import Listless
from footplate.store import storage_queries

# What each kind has that others have not.
FIELDS = {
    StorageKind.FOLDER: ("path", "per_user"),
    StorageKind.S3: ("endpoint", "bucket", "region", "prefix", "virtual_style"),
    StorageKind.HTTP: ("endpoint",),
}
CREDENTIALS = {
    StorageKind.FOLDER: (),
    StorageKind.S3: ("access_key_id", "secret_access_key", "session_token"),
    StorageKind.HTTP: ("username", "password", "token"),
}
_BY_NAME = {field.name: field for field in fields(Storage)}
Credentials = Mapping[str, str] | None


async def add(platform: Platform, caller: Caller, storage: Storage, credentials: Credentials) -> Storage:
    """Add a storage; its credentials are sealed, and never shown again."""
    require_admin(caller, "change_storages")
    if storage.name in platform.storages:
        raise Conflict("storage_exists", storage=storage.name)
    wanted = replace(storage, origin=Origin.DATABASE, is_private=bool(credentials))
    await _check(platform, wanted, credentials or {})
    sealed = platform.filing.seal(wanted.name, credentials) if credentials else None
    now = platform.clock.now()

    def unit(connection: sa.Connection) -> None:
        storage_queries.put(connection, wanted, sealed, now)

    detail = {"kind": wanted.kind.value, "is_private": wanted.is_private}
    await audit.change(platform, caller, "storage.added", wanted.name, unit, **detail)
    return await _reloaded(platform, wanted.name)


async def edit(
    platform: Platform, caller: Caller, name: str, changes: Mapping[str, Any], credentials: Credentials
) -> Storage:
    """Change a storage; credentials of None stay as they are, empty ones are forgotten."""
    require_admin(caller, "change_storages")
    before = _stored(platform, name)
    kept = replace(before, path="") if before.is_own else before
    wanted = replace(kept, **changes)
    await _check(platform, wanted, credentials or {})
    now = platform.clock.now()

    def unit(connection: sa.Connection) -> None:
        sealed = storage_queries.sealed_of(connection, name)
        if credentials is not None:
            sealed = platform.filing.seal(name, credentials) if credentials else None
        storage_queries.put(connection, wanted, sealed, now)

    told_changes = {field: [_plain(getattr(kept, field)), _plain(value)] for field, value in changes.items()}
    detail: dict[str, Any] = {"changes": told_changes}
    if credentials is not None:
        detail["changes"]["credentials"] = None
    await audit.change(platform, caller, "storage.changed", name, unit, **detail)
    return await _reloaded(platform, name)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


async def remove(platform: Platform, caller: Caller, name: str) -> None:
    """Forget a storage; its files stay where they are."""
    require_admin(caller, "change_storages")
    _stored(platform, name)
    await audit.change(
        platform,
        caller,
        "storage.removed",
        name,
        lambda connection: storage_queries.remove(connection, name),
    )
    await platform.store.write(lambda tx: platform.storages.load(tx.connection))
    platform.filing.forget()


async def test(platform: Platform, caller: Caller, name: str) -> None:
    """Ask a storage for its first files, and raise what it answers otherwise."""
    require_admin(caller, "change_storages")
    if name not in platform.storages:
        raise NotFound("storage_not_visible", storage=name[:64])
    with told(name, ""):
        opened = await platform.filing.open(platform.storages[name], caller.name)
        files = opened.files
        if isinstance(files, Listless):
            await opened.run(lambda _files: files.reach())
        else:
            await opened.run(lambda files: files.page("", "", 1))


def _stored(platform: Platform, name: str) -> Storage:
    storage = platform.storages.get(name)
    if storage is None:
        raise NotFound("storage_not_visible", storage=name[:64])
    if storage.origin is Origin.SETTINGS:
        raise Conflict("storage_of_settings", storage=name)
    return storage


async def _reloaded(platform: Platform, name: str) -> Storage:
    # Through the writer, whose units run one after the other: the last to load has seen every change.
    await platform.store.write(lambda tx: platform.storages.load(tx.connection))
    platform.filing.forget()
    platform.room.forget(name)
    return platform.storages[name]


async def _check(platform: Platform, storage: Storage, credentials: Mapping[str, str]) -> None:
    problems = [*_problems(storage, credentials), *_unknown_people(platform, storage)]
    if storage.kind is StorageKind.FOLDER and storage.path:
        real = await platform.filing.lanes.of(storage.name).run(lambda: str(Path(storage.path).resolve()))
        problems += _problems_of_path(platform, storage.path, storage.name) or _problems_of_path(
            platform, real, storage.name
        )
    if problems:
        raise InvalidInput(problems)


def _problems(storage: Storage, credentials: Mapping[str, str]) -> Iterator[Problem]:
    if storage.name == OWN:
        yield problem("name", "storage_name_reserved", storage=OWN)
    others = {name for kind in FIELDS for name in FIELDS[kind]} - set(FIELDS[storage.kind])
    for name in sorted(others):
        if getattr(storage, name) != _BY_NAME[name].default:
            yield problem(name, "not_of_storage_kind", kind=storage.kind.value)
    for name in sorted(set(credentials) - set(CREDENTIALS[storage.kind])):
        yield problem(f"credentials.{name}", "not_of_storage_kind", kind=storage.kind.value)
    if storage.kind is StorageKind.HTTP and not _is_web(storage.endpoint):
        yield problem("endpoint", "not_web_address")
    if storage.kind is StorageKind.S3:
        yield from _problems_of_bucket(storage, credentials)


def _problems_of_bucket(storage: Storage, credentials: Mapping[str, str]) -> Iterator[Problem]:
    if not storage.bucket:
        yield problem("bucket", "required")
    if storage.endpoint and not _is_web(storage.endpoint):
        yield problem("endpoint", "not_web_address")
    for name in ("access_key_id", "secret_access_key"):
        if credentials and not credentials.get(name):
            yield problem(f"credentials.{name}", "required")


def _is_web(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc


def _problems_of_path(platform: Platform, path: str, name: str) -> list[Problem]:
    """Admins of the platform are not those of the machine: they name folders below some places only."""
    roots = platform.storage_roots
    if not path.startswith("/"):
        return [problem("path", "storage_path_relative")]
    if overlap(path, str(platform.home.resolve())):
        return [problem("path", "storage_in_home", folder=path, home=str(platform.home))]
    if ".." in path.split("/") or not any(path.startswith(root.rstrip("/") + "/") for root in roots):
        return [problem("path", "storage_path_elsewhere", roots=list(roots))]
    # Whoever writes to a storage can put links there: what lies in it must not become the root of another.
    others = (one for one in platform.storages.values() if one.name != name and one.path)
    return [
        problem("path", "storage_path_in_storage", storage=one.name)
        for one in others
        if overlap(path, one.path)
    ]


def _unknown_people(platform: Platform, storage: Storage) -> Iterator[Problem]:
    for number, queue in enumerate(storage.queues):
        if queue not in platform.cluster.queues:
            yield problem(f"queues[{number}]", "queue_unknown", queue=queue)
    for number, writer in enumerate(storage.writers):
        kind, _, name = writer.partition(":")
        if kind not in ("user", "queue") or not name:
            yield problem(f"writers[{number}]", "not_storage_writer")
