"""Fetches files and folders of a storage; what is cut goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from footplate.domain.errors import NotFound
from footplate.sdk.connection import Connection
from footplate.sdk.uploading import PASSING, Progress

CHUNK_BYTES = 1024**2

Data = dict[str, Any]


class Downloader:
    """Fetches from one storage."""

    def __init__(self, connection: Connection, storage: str, progress: Progress) -> None:
        self._connection = connection
        self._at = f"/storages/{quote(storage, safe='')}"
        self._progress = progress

    def file(self, path: str, local: Path) -> None:
        """Fetch one file; it gets its name when all of it has come."""
        self._progress.name = local.name
        half = local.with_name(f".{local.name}.part-{os.getpid()}")
        try:
            with half.open("wb") as out:
                for chunk in self.chunks(path):
                    out.write(chunk)
                    self._progress.add(len(chunk))
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
        """Fetch a folder with all that is in it."""
        local.mkdir(parents=True, exist_ok=True)
        for entry in self.entries(path):
            target = local / entry["name"]
            if entry["kind"] == "folder" and not entry["is_link"]:
                self.folder(entry["path"], target)
            elif entry["kind"] == "file":
                with suppress(NotFound):
                    self.file(entry["path"], target)
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
