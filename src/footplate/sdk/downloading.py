"""Fetches files and folders of a storage; what is cut goes on where it was."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from footplate.domain.errors import NotFound
from footplate.sdk.connection import Connection
from footplate.sdk.uploading import PASSING, Progress

CHUNK_BYTES = 1024**2
# Larger files come by themselves, and go on where they were when they are cut.
SMALL_BYTES = 1024**2

Data = dict[str, Any]


class Downloader:
    """Fetches from one storage."""

    def __init__(self, connection: Connection, storage: str, progress: Progress) -> None:
        self._connection = connection
        self._at = f"/storages/{quote(storage, safe='')}"
        self._progress = progress

    def file(self, path: str, local: Path, is_executable: bool = False) -> None:
        """Fetch one file; it gets its name when all of it has come."""
        self._keep(self.chunks(path), local, is_executable)

    def _keep(self, chunks: Iterable[bytes], local: Path, is_executable: bool) -> None:
        self._progress.name = local.name
        half = local.with_name(f".{local.name}.part-{os.getpid()}")
        try:
            with half.open("wb") as out:
                for chunk in chunks:
                    out.write(chunk)
                    self._progress.add(len(chunk))
            if is_executable:
                half.chmod(half.stat().st_mode | 0o111)
            half.replace(local)
        finally:
            half.unlink(missing_ok=True)
        self._progress.add(0, 1)

    def chunks(self, path: str) -> Iterator[bytes]:
        """Yield the content of a file; raise when it changes after a part of it has come."""
        done, tag, patience = 0, "", self._connection.patience()
        while True:
            headers = {"Range": f"bytes={done}-", "If-Range": tag} if done else {}
            try:
                with self._connection.opened(f"{self._at}/content", headers, path=path) as response:
                    patience.connect()
                    if done and response.status_code != httpx.codes.PARTIAL_CONTENT:
                        raise NotFound("file_changed", path=path)
                    tag = response.headers.get("ETag", "")
                    for chunk in response.iter_raw(CHUNK_BYTES):
                        done += len(chunk)
                        yield chunk
                    return
            except PASSING as error:
                patience.lose(error)
            patience.pause()

    def folder(self, path: str, local: Path) -> None:
        """Fetch a folder with all that is in it: small files many at once, all others one by one."""
        local.mkdir(parents=True, exist_ok=True)
        here: set[Path] = set()
        # What a cut leaves out comes one by one, where it is waited for.
        with suppress(*PASSING, tarfile.TarError):
            self._small_files(path, local, here)
        self._others(path, local, here)

    def _small_files(self, path: str, local: Path, here: set[Path]) -> None:
        asked = {"path": path, "plain": "true", "largest_bytes": SMALL_BYTES}
        with (
            self._connection.opened(f"{self._at}/archive", **asked) as response,
            tarfile.open(mode="r|", fileobj=_Stream(response.iter_raw(CHUNK_BYTES))) as tar,
        ):
            # Not by iteration, which keeps every entry in memory.
            while (member := tar.next()) is not None:
                tar.members = []  # type: ignore[attr-defined]  # not in the stubs
                inner = member.name.split("/")[1:]
                content = tar.extractfile(member) if member.isreg() else None
                if content is None or not inner or ".." in inner:
                    continue
                target = local.joinpath(*inner)
                target.parent.mkdir(parents=True, exist_ok=True)
                data = content.read()
                if len(data) != member.size:
                    raise tarfile.ReadError("it ends within a file")
                self._keep([data], target, bool(member.mode & 0o100))
                here.add(target)

    def _others(self, path: str, local: Path, here: Container[Path]) -> None:
        for entry in self.entries(path):
            target = local / entry["name"]
            if target in here:
                continue
            if entry["kind"] == "folder" and not entry["is_link"]:
                target.mkdir(parents=True, exist_ok=True)
                self._others(entry["path"], target, here)
            elif entry["kind"] == "file":
                with suppress(NotFound):
                    self.file(entry["path"], target, entry["is_executable"])
            else:
                self._progress.skipped.append(entry["path"])

    def entries(self, path: str) -> Iterator[Data]:
        """Yield what is in a folder, page by page."""
        token = None
        while True:
            page = self._connection.fetch(f"{self._at}/entries", path=path, page_token=token)
            yield from page["items"]
            token = page["next_page_token"]
            if token is None:
                return


class _Stream(io.RawIOBase):
    """Chunks as a file to read from."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._held = chunks, b""

    def read(self, size: int = -1) -> bytes:
        while len(self._held) < size and (more := next(self._chunks, b"")):
            self._held += more
        given, self._held = self._held[:size], self._held[size:]
        return given
