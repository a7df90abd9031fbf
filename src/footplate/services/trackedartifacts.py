"""Artifacts of runs: files in the output of the job that made them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from footplate.domain.errors import InvalidInput, NotFound
from footplate.machine.beneath import open_beneath
from footplate.services.access import Caller, require_files
from footplate.services.jobfiles import Opened, content_of
from footplate.services.platform import Platform
from footplate.services.tracking import job_of_run

FOLDER = "mlflow"
_PLACE = os.O_PATH | os.O_DIRECTORY


async def write(
    platform: Platform, caller: Caller, run_id: str, path: str, content: AsyncIterator[bytes]
) -> None:
    """Keep a file of a run; what comes in the place of another is whole or not there."""
    job, _ = await job_of_run(platform, caller, run_id, writes=True)
    platform.disk.require_room(job.owner)
    names = _names(path)
    if not names:
        raise InvalidInput("parent_folder", "path")
    root = platform.files.folders(job)["output"]
    folder_fd = await asyncio.to_thread(_make_folders, root, [FOLDER, run_id, *names[:-1]])
    half = f".{names[-1]}.{os.urandom(4).hex()}"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(half, flags, 0o644, dir_fd=folder_fd)
        try:
            async for piece in content:
                await asyncio.to_thread(_write_all, fd, piece)
            os.rename(half, names[-1], src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        except BaseException:
            os.unlink(half, dir_fd=folder_fd)
            raise
        finally:
            os.close(fd)
    finally:
        os.close(folder_fd)


async def read(platform: Platform, caller: Caller, run_id: str, path: str) -> AsyncIterator[bytes]:
    job, _ = await job_of_run(platform, caller, run_id, writes=False)
    require_files(caller, job)
    root = platform.files.folders(job)["output"]
    try:
        names, flags = [FOLDER, run_id, *_names(path)], os.O_RDONLY | os.O_NONBLOCK
        fd = await asyncio.to_thread(_open, root, names, flags)
        size = os.fstat(fd).st_size
    except OSError:
        raise NotFound("no_such_file", job=job.id, path=path[:200], what="output") from None
    return content_of(Opened(job, fd, size))


async def entries(platform: Platform, caller: Caller, run_id: str, path: str) -> list[dict[str, Any]]:
    """List a folder of a run; nothing where there is none."""
    job, _ = await job_of_run(platform, caller, run_id, writes=False)
    require_files(caller, job)
    root, names = platform.files.folders(job)["output"], _names(path)
    return await asyncio.to_thread(_list, root, [FOLDER, run_id, *names], names)


def _names(path: str) -> list[str]:
    names = [name for name in path.split("/") if name not in ("", ".")]
    if ".." in names or any("\0" in name for name in names):
        raise InvalidInput("parent_folder", "path")
    return names


def _list(root: Path, names: list[str], shown: list[str]) -> list[dict[str, Any]]:
    try:
        fd = _open(root, names, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return []
    try:
        found = []
        with os.scandir(fd) as scanned:
            for one in sorted(scanned, key=lambda entry: entry.name):
                # Not by links, which would tell what this machine has elsewhere.
                is_folder = one.is_dir(follow_symlinks=False)
                entry: dict[str, Any] = {"path": "/".join([*shown, one.name]), "is_dir": is_folder}
                if not entry["is_dir"]:
                    entry["file_size"] = one.stat(follow_symlinks=False).st_size
                if not one.name.startswith("."):
                    found.append(entry)
        return found
    finally:
        os.close(fd)


def _open(root: Path, names: list[str], flags: int) -> int:
    root_fd = os.open(root, _PLACE | os.O_CLOEXEC)
    try:
        return open_beneath(root_fd, "/".join(names), flags | os.O_NOFOLLOW)
    finally:
        os.close(root_fd)


def _make_folders(root: Path, names: list[str]) -> int:
    """Make folders one in another, following no links, and open the last."""
    root.mkdir(parents=True, exist_ok=True)
    fd = os.open(root, _PLACE | os.O_CLOEXEC)
    for name in names:
        outer = fd
        try:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=outer)
            fd = os.open(name, _PLACE | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=outer)
        finally:
            os.close(outer)
    return fd


def _write_all(fd: int, piece: bytes) -> None:
    view = memoryview(piece)
    while view:
        view = view[os.write(fd, view) :]
