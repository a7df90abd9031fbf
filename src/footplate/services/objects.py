"""What a caller may do with the objects of a bucket: list, read, write and delete them."""

from __future__ import annotations

import base64
import errno
import hashlib
import hmac
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from functools import partial

from footplate.dialects.cos.answers import Asked, Listed
from footplate.domain.errors import FootplateError, InvalidInput, NotFound
from footplate.domain.storage import Access
from footplate.services import storagefiles, uploads
from footplate.services.access import Caller
from footplate.services.buckets import locate
from footplate.services.fileaccess import open_for, told
from footplate.services.filing import Opened
from footplate.services.objectlisting import found_in
from footplate.services.platform import Platform
from footplate.services.storagefiles import FileRef
from footplate.services.uploads import Wanted
from footplate.storages.base import Entry, Files, Source
from footplate.storages.paths import folder_of

KEY = "key"


async def listing(platform: Platform, caller: Caller, name: str, asked: Asked) -> tuple[list[Listed], bool]:
    """List keys of a bucket, and tell whether there are more."""
    bucket = locate(platform, caller, name)
    opened = await open_for(platform, caller, bucket.storage, Access.READ)
    with told(bucket.storage, bucket.folder):
        return await opened.run_long(lambda files: found_in(files, bucket.folder, asked))


async def put(
    platform: Platform,
    caller: Caller,
    name: str,
    key: str,
    stream: AsyncIterable[bytes],
    n_bytes: int,
    md5: str = "",
) -> Entry:
    """Write an object whole; a key that ends in a slash is a folder."""
    bucket = locate(platform, caller, name)
    path = bucket.path(_required(key))
    checked = verified(stream, md5)
    if key.endswith("/"):
        async for chunk in checked:
            if chunk:
                raise InvalidInput("folder_with_content", KEY)
        return await storagefiles.make_folder(platform, caller, bucket.storage, path, False, False)
    return await uploads.put(platform, caller, bucket.storage, Wanted(path), checked, n_bytes)


def _required(key: str) -> str:
    if not key.strip("/"):
        raise InvalidInput("required", KEY)
    return key


async def verified(stream: AsyncIterable[bytes], md5: str) -> AsyncIterator[bytes]:
    """Pass a body on, and refuse it at its end when it has not the announced digest."""
    hasher = hashlib.md5(usedforsecurity=False)
    async for chunk in stream:
        hasher.update(chunk)
        yield chunk
    if md5 and not hmac.compare_digest(
        base64.b64encode(hasher.digest()), md5.strip().encode("utf-8", "replace")
    ):
        raise InvalidInput("wrong_md5", "Content-MD5")


async def stat(platform: Platform, caller: Caller, name: str, key: str) -> Entry:
    """An object, or the folder that a key with a slash at its end is."""
    bucket = locate(platform, caller, name)
    entry = await storagefiles.stat(platform, caller, bucket.storage, bucket.path(_required(key)))
    if entry.is_folder != key.endswith("/"):
        raise NotFound("file_not_there", storage=name, path=key)
    return entry


async def copy(platform: Platform, caller: Caller, source: tuple[str, str], target: tuple[str, str]) -> Entry:
    """Copy an object, by bucket and key; one that is copied onto itself stays as it is."""
    entry = await stat(platform, caller, *source)
    old, new = (locate(platform, caller, bucket) for bucket, _ in (source, target))
    given = FileRef(old.storage, old.path(_required(source[1])))
    wanted = FileRef(new.storage, new.path(_required(target[1])))
    if entry.is_folder or given == wanted:
        return entry
    await storagefiles.copy(platform, caller, given, wanted, True)
    return await stat(platform, caller, *target)


async def open_object(platform: Platform, caller: Caller, name: str, key: str) -> tuple[Opened, Source]:
    """Open an object for reading; whoever opened it closes it."""
    await stat(platform, caller, name, key)
    bucket = locate(platform, caller, name)
    return await storagefiles.open_file(platform, caller, bucket.storage, bucket.path(key))


async def remove(
    platform: Platform, caller: Caller, name: str, keys: Iterable[str]
) -> dict[str, FootplateError]:
    """Delete objects; those that are not there are silent. Tell what could not be deleted."""
    bucket = locate(platform, caller, name)
    opened = await open_for(platform, caller, bucket.storage, Access.WRITE)
    failed: dict[str, FootplateError] = {}
    for key in keys:
        try:
            path = bucket.path(_required(key))
            with told(bucket.storage, path):
                await opened.run_long(partial(_remove, bucket.folder, path, key.endswith("/")))
        except FootplateError as error:
            failed[key] = error
    platform.room.forget(bucket.storage)
    return failed


def _remove(base: str, path: str, is_folder: bool, files: Files) -> None:
    try:
        if files.stat(path).is_folder != is_folder:
            return
        files.remove(path, recursive=False)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return
    _prune(files, base, folder_of(path))


def _prune(files: Files, base: str, folder: str) -> None:
    """Remove folders that have become empty: a bucket has objects only, and clients expect nothing else."""
    while folder and folder != base:
        try:
            files.remove(folder, recursive=False)
        except OSError:
            return
        folder = folder_of(folder)
