"""What a caller may fetch of a job's files: whole folders, as archives that are made while they are sent."""

from __future__ import annotations

import asyncio
import gzip
import io
import os
import stat
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

from footplate.domain.errors import NotFound
from footplate.domain.job import Job
from footplate.machine.foldertree import walk
from footplate.machine.taskfiles import Spoilt, open_folder, unfollowed_in
from footplate.services.access import Caller, require_files
from footplate.services.jobs import inspect
from footplate.services.outlet import Outlet, written_by
from footplate.services.platform import Platform

CHUNK_BYTES = 256 * 1024
# What lies deeper has a path that no system can unpack.
MOST_DEEP = 1000
# What is said where there is nothing to fetch.
NOTHING = {"output": "no_output", "checkpoints": "no_checkpoints", "work": "no_work", "code": "no_code"}


async def folder_of(platform: Platform, caller: Caller, id_or_name: str, what: str) -> tuple[Job, Path]:
    """Find a folder of a job: its output, checkpoints, code, or the work folders of its last attempt."""
    job = await inspect(platform, caller, id_or_name)
    require_files(caller, job)
    folder = platform.files.folders(job)[what]
    if not await asyncio.to_thread(_has_files, folder):
        raise NotFound(NOTHING[what], job=job.id)
    return job, folder


async def present(platform: Platform, caller: Caller, id_or_name: str) -> list[str]:
    """Name the folders of a job that hold something to fetch."""
    job = await inspect(platform, caller, id_or_name)
    require_files(caller, job)
    folders = platform.files.folders(job)
    return await asyncio.to_thread(lambda: [what for what, folder in folders.items() if _has_files(folder)])


def _has_files(folder: Path) -> bool:
    try:
        folder_fd = open_folder(str(folder))
    except OSError:
        return False
    try:
        with os.scandir(f"/proc/self/fd/{folder_fd}") as entries:
            return next(entries, None) is not None
    finally:
        os.close(folder_fd)


def archive(folder: Path, name: str) -> AsyncIterator[bytes]:
    """Yield a folder as .tar.gz; links are stored as links and never followed."""

    def write(outlet: Outlet) -> None:
        with (
            gzip.GzipFile(fileobj=outlet, mode="wb", compresslevel=1) as packed,
            tarfile.open(mode="w|", fileobj=packed, bufsize=CHUNK_BYTES) as tar,
        ):
            add_all(tar, folder, name)

    return written_by(write)


def add_all(tar: tarfile.TarFile, folder: Path, name: str) -> None:
    """Add all that is in a folder, by descriptors: tasks may put links in the place of files meanwhile."""
    folder_fd = open_folder(str(folder))
    try:
        for place, folders, files, fd in walk(folder_fd, MOST_DEEP):
            folders.sort()
            for one in sorted((*folders, *files)):
                _add(tar, fd, one, os.path.normpath(f"{name}/{place}/{one}"))
    finally:
        os.close(folder_fd)


def _add(tar: tarfile.TarFile, folder_fd: int, file: str, name: str) -> None:
    """Add one file; what disappears or cannot be read meanwhile is left out, as are sockets and devices."""
    try:
        status = os.stat(file, dir_fd=folder_fd, follow_symlinks=False)
        if stat.S_ISREG(status.st_mode):
            _add_content(tar, folder_fd, file, name)
        elif stat.S_ISDIR(status.st_mode) or stat.S_ISLNK(status.st_mode):
            entry = tarfile.TarInfo(name)
            entry.mode, entry.mtime = stat.S_IMODE(status.st_mode), int(status.st_mtime)
            entry.type = tarfile.DIRTYPE
            if stat.S_ISLNK(status.st_mode):
                entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(file, dir_fd=folder_fd)
            tar.addfile(entry)
    except (FileNotFoundError, PermissionError, Spoilt):
        return


def _add_content(tar: tarfile.TarFile, folder_fd: int, file: str, name: str) -> None:
    with open(file, "rb", opener=lambda path, flags: unfollowed_in(folder_fd, path, flags)) as content:
        entry = tar.gettarinfo(arcname=name, fileobj=content)
        tar.addfile(entry, _Whole(content) if entry.isreg() else None)


class _Whole(io.RawIOBase):
    """A file that may be cut short while it is read: zeros stand for what it lacks; the archive goes on."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size).ljust(max(size, 0), b"\0")
