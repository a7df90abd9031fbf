"""Takes the code of a job from a storage as it is now: later changes there do not change the job."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

from footplate.domain.errors import InvalidInput, NotFound
from footplate.domain.spec import JobSpec
from footplate.domain.storage import Access
from footplate.services import code, folderstreams, storagefiles
from footplate.services.access import Caller
from footplate.services.fileaccess import open_for
from footplate.services.platform import Platform
from footplate.storages.base import CHUNK_BYTES, Files, Source

ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")


async def settle(platform: Platform, caller: Caller, spec: JobSpec) -> JobSpec:
    """Take an archive on a storage for the code that is in it; a folder is mounted or brought later."""
    named = spec.code
    if named is None or not named.storage or not named.path.lower().endswith(ARCHIVES):
        return spec
    try:
        entry = await storagefiles.stat(platform, caller, named.storage, named.path)
        if entry.is_folder:
            return spec
        digest = await take(platform, caller, named.storage, named.path)
    except NotFound as error:
        raise InvalidInput(error.said, "code.path") from error
    return replace(spec, code=replace(named, upload=digest, storage="", path=""))


async def take(platform: Platform, caller: Caller, storage: str, path: str) -> str:
    """Keep a folder, or an archive, as code of the caller; the result is its digest."""
    await open_for(platform, caller, storage, Access.READ)
    entry = await storagefiles.stat(platform, caller, storage, path)
    if entry.is_folder:
        chunks = await folderstreams.contents(platform, caller, storage, path)
    else:
        chunks = _whole(platform, caller, storage, path)
    digest, _ = await platform.blobs.save(chunks)
    await code.note(platform, caller, digest)
    return digest


async def _whole(platform: Platform, caller: Caller, storage: str, path: str) -> AsyncIterator[bytes]:
    opened, source = await storagefiles.open_file(platform, caller, storage, path)
    offset = 0
    try:
        while chunk := await opened.run(partial(_read, source, offset)):
            offset += len(chunk)
            yield chunk
    finally:
        await opened.run(lambda _files: source.close())


def _read(source: Source, offset: int, _files: Files) -> bytes:
    return source.read(offset, CHUNK_BYTES)
