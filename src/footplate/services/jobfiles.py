"""Single files of a job: what there is below one of its folders, and one file or folder of it to fetch."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from footplate.domain.errors import Conflict, InvalidInput, NotFound
from footplate.domain.job import Job
from footplate.machine.foldertree import walk
from footplate.machine.taskfiles import open_beneath
from footplate.services.access import Caller
from footplate.services.files import CHUNK_BYTES, MOST_DEEP, folder_of
from footplate.services.platform import Platform
from footplate.services.previews import Preview, preview_of, shown_bytes
from footplate.storages.base import Entry as FileEntry
from footplate.storages.base import EntryKind

MOST_ENTRIES = 10_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder, named by its path below the folder that was listed."""

    path: str
    kind: str
    size_bytes: int
    modified_at: float


@dataclass(frozen=True, slots=True)
class Opened:
    """A plain file that is open to be sent."""

    job: Job
    fd: int
    size_bytes: int


async def entries_of(
    platform: Platform, caller: Caller, id_or_name: str, what: str, path: str, *, is_deep: bool = True
) -> tuple[list[Entry], bool]:
    """List what lies in a folder of a job, as deep as it goes if asked; tell too whether there is more."""
    job, folder = await folder_of(platform, caller, id_or_name, what)
    inner = _checked(path)
    try:
        return await asyncio.to_thread(_list, folder, inner, is_deep)
    except OSError:
        raise _missing(job, what, inner) from None


async def open_in(
    platform: Platform, caller: Caller, id_or_name: str, what: str, path: str
) -> tuple[Job, Path | Opened]:
    """Find a file of a job, opened, or a folder of it by its path; links are not followed."""
    job, folder = await folder_of(platform, caller, id_or_name, what)
    inner = _checked(path)
    try:
        opened = await asyncio.to_thread(_open, job, folder, inner)
    except OSError:
        raise _missing(job, what, inner) from None
    return job, opened or folder / inner


async def preview_in(platform: Platform, caller: Caller, id_or_name: str, what: str, path: str) -> Preview:
    """Show the beginning of a file of a job."""
    job, found = await open_in(platform, caller, id_or_name, what, path)
    if not isinstance(found, Opened):
        raise Conflict("job_file_is_folder", job=job.id, path=path, what=what)
    try:
        return await asyncio.to_thread(_previewed, found, _checked(path))
    finally:
        os.close(found.fd)


def _previewed(opened: Opened, path: str) -> Preview:
    name, status = path.rpartition("/")[2], os.fstat(opened.fd)
    entry = FileEntry(path, EntryKind.FILE, status.st_size, status.st_mtime)
    return preview_of(entry, os.pread(opened.fd, shown_bytes(name), 0))


async def content_of(opened: Opened) -> AsyncIterator[bytes]:
    """Yield a file as it is now, piece by piece; what is appended meanwhile is left out."""
    try:
        position = 0
        while position < opened.size_bytes:
            most = min(CHUNK_BYTES, opened.size_bytes - position)
            piece = await asyncio.to_thread(os.pread, opened.fd, most, position)
            if not piece:
                return
            position += len(piece)
            yield piece
    finally:
        os.close(opened.fd)


def _checked(path: str) -> str:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in path:
        raise InvalidInput("parent_folder", "path")
    return "/".join(parts)


def _missing(job: Job, what: str, path: str) -> NotFound:
    return NotFound("no_such_file", job=job.id, path=path, what=what)


def _open(job: Job, folder: Path, path: str) -> Opened | None:
    """Open a plain file; None for a folder."""
    place = open_beneath(str(folder), path or ".", follows=False)
    try:
        status = os.fstat(place)
        if stat.S_ISDIR(status.st_mode):
            return None
        if not stat.S_ISREG(status.st_mode):
            raise FileNotFoundError(path)
        # Through the place that was found: whatever its name has become meanwhile.
        fd = os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_CLOEXEC)
        return Opened(job, fd, os.fstat(fd).st_size)
    finally:
        os.close(place)


def _list(folder: Path, path: str, is_deep: bool) -> tuple[list[Entry], bool]:
    place = open_beneath(str(folder), path or ".", follows=False)
    try:
        status = os.fstat(place)
        if not stat.S_ISDIR(status.st_mode):
            return [_entry(path.rpartition("/")[2], status)], False
        found: list[Entry] = []
        for entry in _walk(place, is_deep):
            if len(found) == MOST_ENTRIES:
                return found, True
            found.append(entry)
        return found, False
    finally:
        os.close(place)


def _walk(folder_fd: int, is_deep: bool) -> Iterator[Entry]:
    for place, folders, files, fd in walk(folder_fd, MOST_DEEP):
        folders.sort()
        for name in sorted((*folders, *files)):
            try:
                status = os.stat(name, dir_fd=fd, follow_symlinks=False)
            except OSError:
                continue
            yield _entry(os.path.normpath(f"{place}/{name}"), status)
        if not is_deep:
            return


_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


def _entry(path: str, status: os.stat_result) -> Entry:
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), "other")
    # A name may be of bytes that are no text.
    shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return Entry(shown, kind, status.st_size if kind == "file" else 0, status.st_mtime)
