"""What a caller may upload: whole files, files in pieces that can be resumed, and many small files at once.

A piece counts only when all of it has come and has the announced digest: a cut connection takes the file
back to where the piece began, and the client sends it again. A file appears under its name when it is whole.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from footplate.domain.errors import Conflict, InvalidInput, NotFound, TooLarge
from footplate.domain.storage import Access, Upload
from footplate.services.access import Caller
from footplate.services.fileaccess import open_for, told
from footplate.services.filing import Opened
from footplate.services.platform import Platform
from footplate.services.storagefiles import make_numbered
from footplate.storages.base import CHUNK_BYTES, Entry, Files, Part
from footplate.storages.parts import fresh_id
from footplate.storages.paths import clean_file, folder_of, join
from footplate.store import storage_queries

T = TypeVar("T")
REPLACE, REFUSE, SUBFOLDER = "replace", "refuse", "subfolder"
MOST_FILE_BYTES = 2**50
MOST_PIECE_BYTES = 1024**3
MOST_UNDER_WAY = 1000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to become of a file: its path, and what to do when there is one already."""

    path: str
    if_exists: str = REPLACE
    sha256: str = ""
    is_executable: bool = False
    fingerprint: str = ""


# Whole files


async def put(
    platform: Platform,
    caller: Caller,
    storage: str,
    wanted: Wanted,
    stream: AsyncIterable[bytes],
    n_bytes: int,
) -> Entry:
    """Write a file in one go; `n_bytes` is what was announced, 0 when nothing was."""
    opened, path = await open_for(platform, caller, storage, Access.WRITE), clean_file(wanted.path)
    await platform.room.require(opened, n_bytes, caller.name)
    part_id, hasher = fresh_id(), hashlib.sha256()
    with told(storage, path):
        part = await opened.run(lambda files: files.part(part_id, is_new=True))
        try:
            try:
                room = partial(platform.room.require_disk, opened.storage, caller.name)
                await receive(opened, part, hasher, stream, MOST_FILE_BYTES, room)
            finally:
                await opened.run(lambda _files: part.close())
            require_digest(wanted.sha256, hasher.hexdigest())
            # What nobody had announced counts as well; it is on the disk by now.
            await platform.room.require(opened, max(0, part.size_bytes - n_bytes), caller.name, 0)
            return await opened.run_long(lambda files: _place(files, part_id, path, wanted))
        except BaseException:
            await opened.run(lambda files: files.discard(part_id))
            raise


async def receive(
    opened: Opened,
    part: Part,
    hasher: hashlib._Hash,
    stream: AsyncIterable[bytes],
    most_bytes: int,
    require_room: Callable[[], None],
) -> None:
    """Write a stream to the end of a part: one large piece is written while the next comes in."""
    n_bytes, writing = 0, None
    try:
        async for chunks, n_held in _gathered(stream):
            n_bytes += n_held
            if n_bytes > most_bytes:
                raise TooLarge("piece_too_large", "body", most_bytes=most_bytes)
            # What runs needs the last room of the disk more than what is being sent.
            require_room()
            if writing is not None:
                await writing
            writing = asyncio.ensure_future(opened.run(partial(_write, part, hasher, chunks)))
    finally:
        # Whatever happened: nothing is written any more when this ends.
        if writing is not None:
            await writing


def _write(part: Part, hasher: hashlib._Hash, chunks: Sequence[bytes], _files: Files) -> None:
    for chunk in chunks:
        hasher.update(chunk)
        part.append(chunk)


async def _gathered(stream: AsyncIterable[bytes]) -> AsyncIterator[tuple[Sequence[bytes], int]]:
    """Take small pieces together, as each costs a turn of a thread; to join them is a copy more."""
    held, n_held = list[bytes](), 0
    async for chunk in stream:
        held.append(chunk)
        n_held += len(chunk)
        if n_held >= CHUNK_BYTES:
            yield held, n_held
            held, n_held = [], 0
    if held:
        yield held, n_held


def require_digest(wanted: str, found: str) -> None:
    if wanted and wanted.lower() != found:
        raise InvalidInput("wrong_digest", "sha256")


def _place(files: Files, part_id: str, path: str, wanted: Wanted) -> Entry:
    replaces = wanted.if_exists == REPLACE
    try:
        return files.place(part_id, path, replaces=replaces, is_executable=wanted.is_executable)
    except (FileExistsError, IsADirectoryError):
        if wanted.if_exists != SUBFOLDER:
            raise
    beside = make_numbered(files, folder_of(path))
    path = join(beside, path.rpartition("/")[2])
    return files.place(part_id, path, replaces=False, is_executable=wanted.is_executable)


# Files in pieces


async def begin(platform: Platform, caller: Caller, storage: str, wanted: Wanted, size_bytes: int) -> Upload:
    """Begin an upload, which anybody else cannot see or go on with."""
    opened, path = await open_for(platform, caller, storage, Access.WRITE), clean_file(wanted.path)
    if wanted.if_exists == REFUSE:
        await _require_free(opened, path)
    await platform.room.require(opened, size_bytes, caller.name)
    now = platform.clock.now()
    upload = Upload(
        fresh_id(),
        storage,
        path,
        caller.name,
        size_bytes,
        wanted.if_exists,
        wanted.sha256.lower(),
        wanted.is_executable,
        now,
        0,
        wanted.fingerprint,
    )
    under_way = await platform.store.read(
        lambda connection: storage_queries.uploads_of(connection, storage, caller.name)
    )
    if len(under_way) >= MOST_UNDER_WAY:
        raise Conflict("too_many_uploads", most=MOST_UNDER_WAY, storage=storage)
    with told(storage, path):
        await opened.run(lambda files: files.part(upload.id, is_new=True).close())
    await platform.store.write(lambda tx: storage_queries.add_upload(tx.connection, upload))
    return upload


async def _require_free(opened: Opened, path: str) -> None:
    """Tell now what would be refused after all has been sent."""
    with told(opened.storage.name, path):
        try:
            await opened.run(lambda files: files.stat(path))
        except FileNotFoundError:
            return
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)


async def under_way(platform: Platform, caller: Caller, storage: str) -> list[Upload]:
    """The caller's uploads to a storage that are not finished."""
    await open_for(platform, caller, storage, Access.WRITE)
    return await platform.store.read(
        lambda connection: storage_queries.uploads_of(connection, storage, caller.name)
    )


async def state(platform: Platform, caller: Caller, storage: str, upload_id: str) -> Upload:
    """An upload, and how many bytes of it are safe."""
    _, upload = await _find(platform, caller, storage, upload_id)
    return upload


async def _find(platform: Platform, caller: Caller, storage: str, upload_id: str) -> tuple[Opened, Upload]:
    opened = await open_for(platform, caller, storage, Access.WRITE)
    upload = await platform.store.read(lambda connection: storage_queries.upload(connection, upload_id))
    if upload is None or upload.owner != caller.name or upload.storage != storage:
        raise NotFound("upload_not_there", upload=upload_id[:64])
    return opened, upload


@contextmanager
def _part_of(upload: Upload) -> Iterator[None]:
    """Say of a part that is gone that its upload is."""
    try:
        with told(upload.storage, upload.path):
            yield
    except NotFound as error:
        raise NotFound("upload_not_there", upload=upload.id) from error


@contextmanager
def _alone(platform: Platform, upload: Upload) -> Iterator[None]:
    if upload.id in platform.filing.busy:
        raise Conflict("upload_busy", upload=upload.id)
    platform.filing.busy.add(upload.id)
    try:
        yield
    finally:
        platform.filing.busy.discard(upload.id)


async def append(
    platform: Platform,
    caller: Caller,
    storage: str,
    upload_id: str,
    offset: int,
    sha256: str,
    stream: AsyncIterable[bytes],
) -> int:
    """Add a piece to an upload, which must begin where the upload ends; return where it ends then."""
    opened, upload = await _find(platform, caller, storage, upload_id)
    with _alone(platform, upload), _part_of(upload):
        if upload.done_bytes != offset:
            raise Conflict("upload_elsewhere", upload=upload_id, at_bytes=upload.done_bytes, offset=offset)
        part = await opened.run(lambda files: _part_at(files, upload))
        try:
            most, hasher = min(MOST_PIECE_BYTES, upload.size_bytes - offset), hashlib.sha256()
            room = partial(platform.room.require_disk, opened.storage, caller.name)
            await receive(opened, part, hasher, stream, most, room)
            require_digest(sha256, hasher.hexdigest())
        finally:
            await opened.run(lambda _files: part.close())
        # Only now do they count: what came before a cut, or a crash, is cut off by the next piece.
        done_bytes = part.size_bytes
        await platform.store.write(
            lambda tx: storage_queries.advance_upload(tx.connection, upload_id, done_bytes)
        )
        return done_bytes


def _part_at(files: Files, upload: Upload) -> Part:
    """Open the part of an upload at its end, without what came of a piece that was cut."""
    part = files.part(upload.id, is_new=False)
    if part.size_bytes < upload.done_bytes:
        part.close()
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), upload.path)
    part.truncate(upload.done_bytes)
    return part


async def _find_whole(
    platform: Platform, caller: Caller, storage: str, upload_id: str
) -> tuple[Opened, Upload]:
    opened, upload = await _find(platform, caller, storage, upload_id)
    if upload.done_bytes != upload.size_bytes:
        raise Conflict(
            "upload_not_whole", upload=upload_id, at_bytes=upload.done_bytes, size_bytes=upload.size_bytes
        )
    return opened, upload


async def hand_over(
    platform: Platform, caller: Caller, storage: str, upload_id: str, take: Callable[[Part], T]
) -> T:
    """Let something else than a file become of a whole upload, which stays until that has been done."""
    opened, upload = await _find_whole(platform, caller, storage, upload_id)

    def work(files: Files) -> T:
        part = _part_at(files, upload)
        try:
            return take(part)
        finally:
            part.close()

    with _alone(platform, upload), _part_of(upload):
        return await opened.run_long(work)


async def finish(platform: Platform, caller: Caller, storage: str, upload_id: str) -> Entry:
    """Make a whole upload the file that it is to be."""
    opened, upload = await _find_whole(platform, caller, storage, upload_id)
    wanted = Wanted(upload.path, upload.if_exists, upload.sha256, upload.is_executable)
    with _alone(platform, upload):
        with _part_of(upload):
            await opened.run(lambda files: _part_at(files, upload).close())
        with told(storage, upload.path):
            if upload.sha256:
                require_digest(upload.sha256, await opened.run_long(lambda files: files.digest(upload_id)))
            entry = await opened.run_long(lambda files: _place(files, upload_id, upload.path, wanted))
    await platform.store.write(lambda tx: storage_queries.remove_upload(tx.connection, upload_id))
    return entry


async def cancel(platform: Platform, caller: Caller, storage: str, upload_id: str) -> None:
    """Forget an upload and what has come of it."""
    opened, upload = await _find(platform, caller, storage, upload_id)
    with _alone(platform, upload), told(storage, upload.path):
        await opened.run(lambda files: files.discard(upload_id))
    await platform.store.write(lambda tx: storage_queries.remove_upload(tx.connection, upload_id))
    platform.room.forget(storage)
