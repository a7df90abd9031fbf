"""What a caller may fetch of a job's files: whole folders, as archives that are made while they are sent."""

from __future__ import annotations

import asyncio
import gzip
import io
import tarfile
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from pathlib import Path

from footplate.domain import layout
from footplate.domain.errors import NotFound
from footplate.domain.job import Job
from footplate.services.access import Caller
from footplate.services.jobs import find
from footplate.services.platform import Platform

CHUNK_BYTES = 256 * 1024
MOST_CHUNKS = 8


async def folder_of(platform: Platform, caller: Caller, id_or_name: str, what: str) -> tuple[Job, Path]:
    """Find a folder of a job: its output, checkpoints, code, or the work folders of its last attempt."""
    job = await find(platform, caller, id_or_name)
    folder = {
        "output": layout.output_folder(platform.home, job.id),
        "checkpoints": layout.checkpoint_folder(platform.home, job.id),
        "code": layout.code_folder(platform.home, job.id),
        "work": layout.attempt_folder(platform.home, job.id, job.attempt),
    }[what]
    if not await asyncio.to_thread(_has_files, folder):
        raise NotFound(f"job {job.id} has no {what}{_hint(what)}")
    return job, folder


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _hint(what: str) -> str:
    hints = {
        "output": ": its tasks have written nothing to $FOOTPLATE_OUTPUT_DIR",
        "checkpoints": ": its tasks have written nothing to $FOOTPLATE_CHECKPOINT_DIR",
        "code": ": it was submitted without any",
    }
    return hints.get(what, "")


async def archive(folder: Path, name: str) -> AsyncIterator[bytes]:
    """Yield a folder as .tar.gz; links are stored as links and never followed."""
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_CHUNKS)
    writing = asyncio.create_task(asyncio.to_thread(_write, folder, name, _Outlet(loop, chunks)))
    try:
        while (chunk := await chunks.get()) is not None:
            yield chunk
        await writing
    finally:
        writing.cancel()
        # A writer that waits for room must not wait for ever when the reader is gone.
        while not chunks.empty():
            chunks.get_nowait()


class _Outlet(io.RawIOBase):
    """A file to write to in a thread whose bytes come out on the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, chunks: asyncio.Queue[bytes | None]) -> None:
        self._loop = loop
        self._chunks = chunks

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        chunk = bytes(data)  # type: ignore[call-overload]  # whatever tarfile hands over is a buffer
        self._put(chunk)
        return len(chunk)

    def finish(self) -> None:
        self._put(None)

    def _put(self, chunk: bytes | None) -> None:
        asyncio.run_coroutine_threadsafe(self._chunks.put(chunk), self._loop).result(60)


def _write(folder: Path, name: str, outlet: _Outlet) -> None:
    try:
        with (
            gzip.GzipFile(fileobj=outlet, mode="wb", compresslevel=1) as packed,
            tarfile.open(mode="w|", fileobj=packed, bufsize=CHUNK_BYTES) as tar,
        ):
            for path in sorted(folder.rglob("*")):
                _add(tar, path, f"{name}/{path.relative_to(folder)}")
    except (CancelledError, TimeoutError):
        # The reader is gone: nobody waits for the rest.
        return
    finally:
        _finish_quietly(outlet)


def _add(tar: tarfile.TarFile, path: Path, name: str) -> None:
    """Add one file; what disappears or cannot be read meanwhile is left out, as are sockets and devices."""
    try:
        if path.is_symlink() or path.is_file() or path.is_dir():
            tar.add(path, name, recursive=False)
    except (FileNotFoundError, PermissionError):
        return


def _finish_quietly(outlet: _Outlet) -> None:
    try:
        outlet.finish()
    except (CancelledError, TimeoutError, RuntimeError):
        return
