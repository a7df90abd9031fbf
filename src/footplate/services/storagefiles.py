"""What a caller may do with the files of a storage: look, read, move, copy, make folders, delete."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from footplate.domain.errors import Conflict
from footplate.domain.storage import Access
from footplate.services.access import Caller
from footplate.services.fileaccess import open_for, told
from footplate.services.filing import Opened
from footplate.services.platform import Platform
from footplate.services.storageusage import Usage, measure
from footplate.storages.base import CHUNK_BYTES, Entry, EntryKind, Files, Page, Source
from footplate.storages.parts import fresh_id
from footplate.storages.paths import clean, clean_file, is_within, join

MOST_NUMBERED = 100_000


@dataclass(frozen=True, slots=True)
class FileRef:
    """A path on a storage."""

    storage: str
    path: str


async def page(platform: Platform, caller: Caller, storage: str, path: str, after: str, limit: int) -> Page:
    """List a folder by name."""
    opened, cleaned = await open_for(platform, caller, storage, Access.READ), clean(path)
    with told(storage, cleaned):
        return await opened.run(lambda files: files.page(cleaned, after, limit))


async def stat(platform: Platform, caller: Caller, storage: str, path: str) -> Entry:
    opened, cleaned = await open_for(platform, caller, storage, Access.READ), clean(path)
    with told(storage, cleaned):
        return await opened.run(lambda files: files.stat(cleaned))


async def usage(platform: Platform, caller: Caller, storage: str, path: str) -> Usage:
    """Measure a file, or a folder with all that is in it."""
    opened, cleaned = await open_for(platform, caller, storage, Access.READ), clean(path)
    with told(storage, cleaned):
        return await opened.run_long(lambda files: measure(files, cleaned))


async def open_file(platform: Platform, caller: Caller, storage: str, path: str) -> tuple[Opened, Source]:
    """Open a file for reading; whoever opened it closes it."""
    opened, cleaned = await open_for(platform, caller, storage, Access.READ), clean(path)
    with told(storage, cleaned):
        return opened, await opened.run(lambda files: files.open(cleaned))


async def make_folder(
    platform: Platform, caller: Caller, storage: str, path: str, is_new: bool, is_numbered: bool
) -> Entry:
    """Make a folder; `is_numbered`: a new one in it, with the first number from 2 on that is free."""
    opened = await open_for(platform, caller, storage, Access.WRITE)
    cleaned = clean(path) if is_numbered else clean_file(path)
    with told(storage, cleaned):
        if is_numbered:
            return await opened.run(lambda files: files.stat(make_numbered(files, cleaned)))
        return await opened.run(lambda files: files.make_folder(cleaned, is_new=is_new))


def make_numbered(files: Files, folder: str) -> str:
    """Make a folder of its own for what comes again, so that nothing is replaced."""
    for number in count(2):
        try:
            return files.make_folder(join(folder, str(number)), is_new=True).path
        except FileExistsError:
            if number >= MOST_NUMBERED:
                raise
    raise AssertionError("numbers do not end")


async def remove(platform: Platform, caller: Caller, storage: str, path: str, recursive: bool) -> None:
    """Delete a file, or a folder: one that is not empty only when asked for."""
    opened, cleaned = await open_for(platform, caller, storage, Access.WRITE), clean_file(path)
    with told(storage, cleaned):
        await opened.run_long(lambda files: files.remove(cleaned, recursive=recursive))
    platform.room.forget(storage)


async def move(platform: Platform, caller: Caller, source: FileRef, target: FileRef, replaces: bool) -> Entry:
    """Move a file or folder; from one storage to another it is copied first, then deleted."""
    if source.storage != target.storage:
        await _require_movable(platform, caller, source)
        await copy(platform, caller, source, target, replaces)
        await remove(platform, caller, source.storage, source.path, recursive=True)
        return await stat(platform, caller, target.storage, target.path)
    opened = await open_for(platform, caller, source.storage, Access.WRITE)
    old, new = clean_file(source.path, "source.path"), clean_file(target.path, "target.path")
    _require_elsewhere(source.storage, old, new)
    with told(source.storage, old):
        await opened.run(lambda files: files.stat(old))
    with told(target.storage, new):
        return await opened.run(lambda files: files.move(old, new, replaces=replaces))


async def _require_movable(platform: Platform, caller: Caller, source: FileRef) -> None:
    """Refuse before anything is copied what could not be deleted afterwards without a loss."""
    opened = await open_for(platform, caller, source.storage, Access.WRITE)
    path = clean_file(source.path, "source.path")
    with told(source.storage, path):
        stays = await opened.run_long(lambda files: _first_uncopied(files, path))
    if stays is not None:
        raise Conflict("file_cannot_move", storage=source.storage, path=stays)


def _first_uncopied(files: Files, path: str) -> str | None:
    here = files.stat(path)
    if not here.is_folder:
        return None if here.kind is EntryKind.FILE else path
    return next((one.path for one in files.walk(path) if one.kind is EntryKind.OTHER), None)


async def copy(platform: Platform, caller: Caller, source: FileRef, target: FileRef, replaces: bool) -> Usage:
    """Copy a file, or a folder with all that is in it, within a storage or to another one."""
    read_from = await open_for(platform, caller, source.storage, Access.READ)
    write_to = await open_for(platform, caller, target.storage, Access.WRITE)
    old, new = clean(source.path, "source.path"), clean_file(target.path, "target.path")
    if source.storage == target.storage:
        _require_elsewhere(source.storage, old, new)
    with told(source.storage, old):
        size = await read_from.run_long(lambda files: measure(files, old))
    # A bucket takes its files one after the other, so they lie here one at a time.
    here_bytes = size.size_bytes if write_to.storage.is_own else 0
    await platform.room.require(write_to, size.size_bytes, caller.name, here_bytes)
    is_same = source.storage == target.storage
    with told(target.storage, new):
        copied = await write_to.run_long(
            lambda files: _copy_all(read_from.files, old, files, new, replaces, is_same)
        )
    platform.room.forget(target.storage)
    return copied


def _require_elsewhere(storage: str, old: str, new: str) -> None:
    if is_within(new, old):
        raise Conflict("file_into_itself", storage=storage, path=old)


def _copy_all(read_from: Files, old: str, write_to: Files, new: str, replaces: bool, is_same: bool) -> Usage:
    here = read_from.stat(old)
    if not here.is_folder:
        _copy_file(read_from, here, write_to, new, replaces, is_same)
        return Usage(1, 0, here.size_bytes)
    if not replaces:
        write_to.make_folder(new, is_new=True)
    else:
        write_to.make_folder(new)
    n_files = n_folders = size_bytes = 0
    for entry, to in _moved(read_from, old, new):
        if entry.is_folder:
            write_to.make_folder(to)
            n_folders += 1
        elif entry.kind is EntryKind.FILE:
            # Links are not copied: what they mean elsewhere is not what they meant here.
            _copy_file(read_from, entry, write_to, to, replaces, is_same)
            n_files, size_bytes = n_files + 1, size_bytes + entry.size_bytes
    return Usage(n_files, n_folders, size_bytes)


def _moved(files: Files, old: str, new: str) -> Iterator[tuple[Entry, str]]:
    for entry in files.walk(old):
        yield entry, join(new, entry.path.removeprefix(old).lstrip("/"))


def _copy_file(
    read_from: Files, entry: Entry, write_to: Files, path: str, replaces: bool, is_same: bool
) -> None:
    if is_same:
        write_to.copy(entry.path, path, replaces=replaces)
        return
    source, part_id = read_from.open(entry.path), fresh_id()
    try:
        pour(source, write_to, part_id)
        write_to.place(part_id, path, replaces=replaces, is_executable=entry.is_executable)
    except BaseException:
        write_to.discard(part_id)
        raise
    finally:
        source.close()


def pour(source: Source, files: Files, part_id: str) -> None:
    """Copy an open file into a new part."""
    part = files.part(part_id, is_new=True)
    try:
        while piece := source.read(part.size_bytes, CHUNK_BYTES):
            part.append(piece)
    finally:
        part.close()
    if part.size_bytes < source.entry.size_bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO), source.entry.path)
