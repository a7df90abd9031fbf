"""Whole folders of storages as streams: out as an archive, in as a tar of small files."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import tarfile
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import IO

from footplate.domain.errors import InvalidInput, TooLarge
from footplate.domain.storage import Access
from footplate.services.access import Caller
from footplate.services.fileaccess import open_for, told
from footplate.services.outlet import Inlet, OtherSideGone, Outlet, written_by
from footplate.services.platform import Platform
from footplate.services.smalltar import plain_files
from footplate.services.uploads import require_digest
from footplate.storages.base import CHUNK_BYTES, Batch, Entry, EntryKind, Files, Source
from footplate.storages.paths import clean, clean_file, join

# What is larger is uploaded by itself, in pieces that can be resumed.
MOST_SMALL_BYTES = 8 * CHUNK_BYTES
# What is kept in memory until its digest is known.
MOST_WHOLE_BYTES = 2 * MOST_SMALL_BYTES
MOST_HEADER_BYTES = CHUNK_BYTES
# Each header that is read copies what is left of the buffer: a large one would be copied for every file.
READ_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class Unpacked:
    n_files: int
    size_bytes: int


async def archive(
    platform: Platform,
    caller: Caller,
    storage: str,
    path: str,
    is_plain: bool = False,
    largest_bytes: int | None = None,
) -> tuple[str, AsyncIterator[bytes]]:
    """Name a folder, and yield it as .tar.gz; links and pipes are left out, and files larger than asked for.

    A plain one is a .tar.
    """
    opened, cleaned = await open_for(platform, caller, storage, Access.READ), clean(path)
    with told(storage, cleaned):
        entry = await opened.run(lambda files: files.stat(cleaned))
        if not entry.is_folder:
            raise NotADirectoryError(cleaned)
    name = entry.name or storage
    return name, written_by(
        lambda outlet: _pack(opened.files, cleaned, name, outlet, is_plain, largest_bytes)
    )


async def contents(platform: Platform, caller: Caller, storage: str, path: str) -> AsyncIterator[bytes]:
    """Yield what is in a folder as .tar.gz, without the folder itself."""
    opened, cleaned = await open_for(platform, caller, storage, Access.READ), clean(path)
    return written_by(lambda outlet: _pack(opened.files, cleaned, "", outlet))


def _pack(
    files: Files,
    path: str,
    name: str,
    outlet: Outlet,
    is_plain: bool = False,
    largest_bytes: int | None = None,
) -> None:
    with (
        nullcontext(outlet) if is_plain else gzip.GzipFile(fileobj=outlet, mode="wb", compresslevel=1) as out,
        tarfile.open(mode="w|", fileobj=out, bufsize=CHUNK_BYTES) as tar,
    ):
        for entry in files.walk(path):
            if largest_bytes is not None and entry.size_bytes > largest_bytes:
                continue
            _pack_one(tar, files, entry, join(name, entry.path.removeprefix(path).lstrip("/")))


def _pack_one(tar: tarfile.TarFile, files: Files, entry: Entry, name: str) -> None:
    """Add one entry; what disappears or cannot be read meanwhile is left out."""
    info = tarfile.TarInfo(name)
    info.mtime = int(entry.modified_at or 0)
    if entry.is_folder:
        info.type, info.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(info)
    elif entry.kind is EntryKind.FILE:
        try:
            source = files.open(entry.path)
        except OSError:
            return
        try:
            info.size = source.entry.size_bytes
            info.mode = 0o755 if entry.is_executable else 0o644
            tar.addfile(info, _Whole(source))
        finally:
            source.close()


class _Whole(io.RawIOBase):
    """A file that may be cut short while it is read: zeros stand for what it lacks; the archive goes on."""

    def __init__(self, source: Source) -> None:
        self._source, self._at = source, 0

    def read(self, size: int = -1) -> bytes:
        held = bytearray()
        # One that lies elsewhere hands out what it has read ahead, which may be less.
        while len(held) < size and (piece := self._source.read(self._at + len(held), size - len(held))):
            held += piece
        self._at += size
        return bytes(held.ljust(max(size, 0), b"\0"))


async def unpack(
    platform: Platform,
    caller: Caller,
    storage: str,
    path: str,
    stream: AsyncIterable[bytes],
    n_bytes: int,
    sha256: str = "",
) -> Unpacked:
    """Write the small files of a tar stream into a folder, each whole; those that are there are replaced.

    With a digest nothing is written before all has come, and is what was sent. Without, what came before a
    fault stays. To send it all again does no harm.
    """
    opened, cleaned = await open_for(platform, caller, storage, Access.WRITE), clean(path)
    if not n_bytes and opened.storage.quota_bytes is not None:
        raise InvalidInput("length_needed", "Content-Length", storage=storage)
    await platform.room.require(opened, n_bytes, caller.name)
    if sha256:
        tar = await _whole(stream, sha256)
        with told(storage, cleaned):
            return await opened.run_long(lambda files: _unpack_whole(files, cleaned, tar))
    inlet = Inlet()
    feeding = asyncio.ensure_future(inlet.feed(stream))
    try:
        with told(storage, cleaned):
            return await opened.run_long(lambda files: _unpack(files, cleaned, inlet))
    except OtherSideGone:
        # The fault of the stream says more.
        await feeding
        raise
    finally:
        inlet.abandon()
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)


async def _whole(stream: AsyncIterable[bytes], sha256: str) -> bytes:
    chunks, n_bytes = [], 0
    async for chunk in stream:
        n_bytes += len(chunk)
        if n_bytes > MOST_WHOLE_BYTES:
            raise TooLarge("piece_too_large", "body", most_bytes=MOST_WHOLE_BYTES)
        chunks.append(chunk)
    tar = b"".join(chunks)
    require_digest(sha256, (await asyncio.to_thread(hashlib.sha256, tar)).hexdigest())
    return tar


def _unpack_whole(files: Files, folder: str, tar: bytes) -> Unpacked:
    found = plain_files(tar)
    if found is None:
        return _unpack(files, folder, io.BytesIO(tar))
    paths = [join(folder, clean_file(one.name, "tar")) for one in found]
    with files.batch() as batch:
        for path, one in zip(paths, found, strict=True):
            _require_small(one.name, one.size_bytes)
            batch.write(path, tar[one.start : one.start + one.size_bytes], one.is_executable)
    return Unpacked(len(found), sum(one.size_bytes for one in found))


def _require_small(name: str, size_bytes: int) -> None:
    if size_bytes > MOST_SMALL_BYTES:
        raise TooLarge("tar_entry_too_large", "tar", entry=name, most_bytes=MOST_SMALL_BYTES)


def _unpack(files: Files, folder: str, inlet: IO[bytes] | Inlet) -> Unpacked:
    n_files = size_bytes = 0
    try:
        with (
            tarfile.open(mode="r|", fileobj=inlet, bufsize=READ_BYTES, tarinfo=_Entry) as tar,
            files.batch() as batch,
        ):
            # Not by iteration, which keeps every entry in memory.
            while (member := tar.next()) is not None:
                tar.members = []  # type: ignore[attr-defined]  # not in the stubs
                if member.isdir():
                    files.make_folder(join(folder, clean_file(member.name, "tar")))
                    continue
                size_bytes += _unpack_file(tar, member, folder, batch)
                n_files += 1
    except (tarfile.TarError, EOFError) as error:
        raise InvalidInput("not_tar", "body", error=str(error)) from error
    return Unpacked(n_files, size_bytes)


def _unpack_file(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: str, batch: Batch) -> int:
    path = join(folder, clean_file(member.name, "tar"))
    if not member.isreg():
        raise InvalidInput("archive_odd_entry", "tar", entry=member.name)
    _require_small(member.name, member.size)
    content = tar.extractfile(member)
    assert content is not None
    data = content.read()
    if len(data) != member.size:
        raise EOFError("it ends within a file")
    batch.write(path, data, bool(member.mode & 0o100))
    return member.size


class _Entry(tarfile.TarInfo):
    """A tar entry whose extended headers, which are read whole into memory, are bounded."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type not in (*tarfile.REGULAR_TYPES, tarfile.DIRTYPE) and self.size > MOST_HEADER_BYTES:
            raise TooLarge("archive_header_too_large", "tar", most_bytes=MOST_HEADER_BYTES)
        entry: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]  # not in the stubs
        return entry
