"""Objects that come in numbered parts, several at once and in any order, and are joined at the end.

Each part is a file of its own, named by the upload and its number. Nothing is noted of parts but the files:
their digests are taken again when they are joined, so that a part that was cut short is found then.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterable, Sequence
from dataclasses import dataclass
from functools import partial

from footplate.domain.errors import Conflict, InvalidInput, NotFound
from footplate.domain.storage import Access, Upload
from footplate.services.access import Caller
from footplate.services.buckets import locate
from footplate.services.fileaccess import open_for, told
from footplate.services.filing import Opened
from footplate.services.objects import verified
from footplate.services.platform import Platform
from footplate.services.uploads import MOST_UNDER_WAY, REPLACE, receive
from footplate.storages.base import CHUNK_BYTES, Entry, Files, Part
from footplate.storages.parts import fresh_id
from footplate.storages.paths import clean_file
from footplate.store import storage_queries

MOST_PARTS = 10_000
MOST_PART_BYTES = 5 * 1024**3
# What tells these uploads from those that come in one row.
FINGERPRINT = "in parts"


async def begin(platform: Platform, caller: Caller, bucket: str, key: str) -> str:
    """Begin an object; the result is what its parts are sent under."""
    place = locate(platform, caller, bucket)
    await open_for(platform, caller, place.storage, Access.WRITE)
    path = clean_file(place.path(key))
    upload = Upload(
        fresh_id(),
        place.storage,
        path,
        caller.name,
        0,
        REPLACE,
        "",
        False,
        platform.clock.now(),
        0,
        FINGERPRINT,
    )
    known = await platform.store.read(
        lambda connection: storage_queries.uploads_of(connection, place.storage, caller.name)
    )
    if len(known) >= MOST_UNDER_WAY:
        raise Conflict("too_many_uploads", most=MOST_UNDER_WAY, storage=place.storage)
    await platform.store.write(lambda tx: storage_queries.add_upload(tx.connection, upload))
    return upload.id


async def _find(
    platform: Platform, caller: Caller, bucket: str, key: str, upload_id: str
) -> tuple[Opened, Upload]:
    place = locate(platform, caller, bucket)
    opened = await open_for(platform, caller, place.storage, Access.WRITE)
    upload = await platform.store.read(lambda connection: storage_queries.upload(connection, upload_id[:64]))
    is_theirs = upload is not None and upload.owner == caller.name and upload.fingerprint == FINGERPRINT
    if upload is None or not is_theirs or (upload.storage, upload.path) != (place.storage, place.path(key)):
        raise NotFound("upload_not_there", upload=upload_id[:64])
    return opened, upload


async def send(
    platform: Platform,
    caller: Caller,
    bucket: str,
    key: str,
    upload_id: str,
    number: int,
    stream: AsyncIterable[bytes],
    n_bytes: int,
    md5: str = "",
) -> str:
    """Keep a part, in place of one of its number; the result is its digest, by which it is joined."""
    if not 0 <= number <= MOST_PARTS:
        raise InvalidInput("bad_part_number", "partNumber", most=MOST_PARTS)
    opened, upload = await _find(platform, caller, bucket, key, upload_id)
    await platform.room.require(opened, n_bytes, caller.name)
    part_id, hasher = _id(upload, number), hashlib.md5(usedforsecurity=False)
    with told(opened.storage.name, upload.path):
        part = await opened.run(lambda files: _fresh(files, part_id))
        try:
            room = partial(platform.room.require_disk, opened.storage, caller.name)
            await receive(opened, part, hasher, verified(stream, md5), MOST_PART_BYTES, room)
        except BaseException:
            await opened.run(lambda files: files.discard(part_id))
            raise
        finally:
            await opened.run(lambda _files: part.close())
    await platform.room.require(opened, max(0, part.size_bytes - n_bytes), caller.name, 0)
    return hasher.hexdigest()


def _id(upload: Upload, number: int) -> str:
    return f"{upload.id}{number:08x}"


def _fresh(files: Files, part_id: str) -> Part:
    files.discard(part_id)
    return files.part(part_id, is_new=True)


@dataclass(frozen=True, slots=True)
class SentPart:
    """A part that has come, by its number; `digest` is of what lies there now."""

    number: int
    digest: str
    size_bytes: int


async def sent(
    platform: Platform, caller: Caller, bucket: str, key: str, upload_id: str, after: int, most: int
) -> tuple[list[SentPart], bool]:
    """Parts with higher numbers than one, so that an upload can go on; and whether there are more."""
    opened, upload = await _find(platform, caller, bucket, key, upload_id)
    with told(opened.storage.name, upload.path):
        return await opened.run_long(lambda files: _sent(files, upload, after, most))


def _sent(files: Files, upload: Upload, after: int, most: int) -> tuple[list[SentPart], bool]:
    found: list[SentPart] = []
    for number in range(after + 1, MOST_PARTS + 1):
        try:
            part = files.part(_id(upload, number), is_new=False)
        except FileNotFoundError:
            continue
        try:
            if len(found) == most:
                return found, True
            hasher, offset = hashlib.md5(usedforsecurity=False), 0
            while piece := part.read(offset, CHUNK_BYTES):
                hasher.update(piece)
                offset += len(piece)
        finally:
            part.close()
        found.append(SentPart(number, hasher.hexdigest(), offset))
    return found, False


async def under_way(
    platform: Platform, caller: Caller, bucket: str, prefix: str
) -> list[tuple[str, str, float]]:
    """Uploads of the caller that could go on: key, id, and when each began; the newest of a key last."""
    place = locate(platform, caller, bucket)
    known = await platform.store.read(
        lambda connection: storage_queries.uploads_of(connection, place.storage, caller.name)
    )
    root = f"{place.folder}/" if place.folder else ""
    found = [
        (one.path.removeprefix(root), one.id, one.created_at)
        for one in known
        if one.fingerprint == FINGERPRINT and one.path.startswith(f"{root}{prefix}")
    ]
    return sorted(found, key=lambda one: (one[0], one[2]))


async def join(
    platform: Platform,
    caller: Caller,
    bucket: str,
    key: str,
    upload_id: str,
    parts: Sequence[tuple[int, str]],
) -> Entry:
    """Make an object of its parts, by number and digest; it appears under its key when it is whole."""
    opened, upload = await _find(platform, caller, bucket, key, upload_id)
    if upload.id in platform.filing.busy:
        raise Conflict("upload_busy", upload=upload.id)
    platform.filing.busy.add(upload.id)
    try:
        with told(opened.storage.name, upload.path):
            entry = await opened.run_long(lambda files: _join(files, upload, parts))
    finally:
        platform.filing.busy.discard(upload.id)
    await platform.store.write(lambda tx: storage_queries.remove_upload(tx.connection, upload.id))
    return entry


def _join(files: Files, upload: Upload, parts: Sequence[tuple[int, str]]) -> Entry:
    whole_id = fresh_id()
    whole = files.part(whole_id, is_new=True)
    try:
        try:
            for number, digest in parts:
                _append(files, whole, _id(upload, number), number, digest)
        finally:
            whole.close()
        entry = files.place(whole_id, upload.path, replaces=True)
    except BaseException:
        files.discard(whole_id)
        raise
    for number, _ in parts:
        files.discard(_id(upload, number))
    return entry


def _append(files: Files, whole: Part, part_id: str, number: int, digest: str) -> None:
    try:
        source = files.part(part_id, is_new=False)
    except FileNotFoundError:
        raise InvalidInput("part_not_there", "Part", number=number) from None
    hasher, offset = hashlib.md5(usedforsecurity=False), 0
    try:
        while piece := source.read(offset, CHUNK_BYTES):
            hasher.update(piece)
            whole.append(piece)
            offset += len(piece)
    finally:
        source.close()
    if digest and hasher.hexdigest() != digest.lower():
        raise InvalidInput("part_not_there", "Part", number=number)


async def cancel(platform: Platform, caller: Caller, bucket: str, key: str, upload_id: str) -> None:
    """Forget an upload, and the parts that have come."""
    opened, upload = await _find(platform, caller, bucket, key, upload_id)
    with told(opened.storage.name, upload.path):
        await opened.run_long(lambda files: _discard_all(files, upload))
    await platform.store.write(lambda tx: storage_queries.remove_upload(tx.connection, upload.id))
    platform.room.forget(opened.storage.name)


def _discard_all(files: Files, upload: Upload) -> None:
    # Parts come one after the other: behind a long gap there is none.
    for number in range(MOST_PARTS + 1):
        files.discard(_id(upload, number))
