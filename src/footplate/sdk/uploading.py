"""Sends files and folders to a storage: large files in pieces, small ones many at once."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from footplate.domain.errors import (
    Conflict,
    DiskFull,
    NotFound,
    StorageAway,
    StoreUnavailable,
    TooManyConnections,
)
from footplate.sdk.connection import Connection
from footplate.sdk.errors import Unreachable
from footplate.sdk.smallfiles import Batch, files_in, size_of

WHOLE_BYTES = 8 * 1024**2
PIECE_BYTES, LEAST_PIECE_BYTES = 32 * 1024**2, 1024**2
# Requests of many small files that are under way while the next is put together.
MOST_BATCHES = 2
PLACE_S = 600.0
PASSING = (Unreachable, StoreUnavailable, StorageAway, TooManyConnections)

Data = dict[str, Any]


@dataclass(slots=True)
class Progress:
    """How far a transfer is; `tell` is called whenever that has changed."""

    tell: Callable[[Progress], None] = lambda _progress: None
    total_bytes: int = 0
    done_bytes: int = 0
    n_files: int = 0
    name: str = ""
    skipped: list[str] = field(default_factory=list)

    def add(self, n_bytes: int, n_files: int = 0) -> None:
        self.done_bytes += n_bytes
        self.n_files += n_files
        self.tell(self)


class Uploader:
    """Sends to one storage."""

    def __init__(self, connection: Connection, storage: str, progress: Progress) -> None:
        self._connection = connection
        self._at = f"/storages/{quote(storage, safe='')}"
        self._progress = progress

    def file(self, local: Path, path: str, if_exists: str) -> str:
        """Send one file; return the path that it got."""
        with local.open("rb") as content:
            status = os.fstat(content.fileno())
            self._progress.name = local.name
            is_executable = bool(status.st_mode & 0o100)
            if status.st_size <= WHOLE_BYTES:
                return self.whole(content.read(), path, if_exists, is_executable)
            mark = f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}"
            return self.pieces(content, status.st_size, path, if_exists, is_executable, mark)

    def whole(self, data: bytes, path: str, if_exists: str, is_executable: bool = False) -> str:
        """Send a small file in one request, which can be repeated unless it makes a folder of its own."""
        params = {"path": path, "if_exists": if_exists, "is_executable": is_executable or None}
        answer = self._connection.request(
            "PUT",
            f"{self._at}/content",
            params=params,
            content=data,
            headers={"X-Content-SHA256": hashlib.sha256(data).hexdigest()},
            is_repeatable=if_exists == "replace",
        )
        self._progress.add(len(data), 1)
        return str(answer.json()["path"])

    def pieces(
        self, content: IO[bytes], size: int, path: str, if_exists: str, is_executable: bool, mark: str = ""
    ) -> str:
        """Send a large file piece by piece, on from where an earlier try of it was cut."""
        upload = self.send_all(content, size, path, if_exists, is_executable, mark)
        return self._finish(upload, size, path)

    def send_all(
        self, content: IO[bytes], size: int, path: str, if_exists: str, is_executable: bool, mark: str
    ) -> Data:
        """Send all pieces of a file that gets no name yet; return the upload."""
        wanted = {
            "path": path,
            "size_bytes": size,
            "if_exists": if_exists,
            "is_executable": is_executable,
            "fingerprint": mark,
        }
        upload = self._begun(wanted) or self._connection.send("POST", f"{self._at}/uploads", wanted)
        self._progress.add(upload["done_bytes"])
        self._send_pieces(content, upload)
        self._progress.add(0, 1)
        found: Data = upload
        return found

    def _begun(self, wanted: Data) -> Data | None:
        """Find an upload of this very file that was cut."""
        if not wanted["fingerprint"]:
            return None
        same = ("path", "size_bytes", "if_exists", "fingerprint")
        for upload in self._connection.fetch(f"{self._at}/uploads")["items"]:
            if all(upload[name] == wanted[name] for name in same):
                found: Data = upload
                return found
        return None

    def _send_pieces(self, content: IO[bytes], upload: Data) -> None:
        at, size, done = f"{self._at}/uploads/{upload['id']}", upload["size_bytes"], upload["done_bytes"]
        n_bytes, patience = PIECE_BYTES, self._connection.patience()
        patience.connect()
        while done < size:
            content.seek(done)
            piece = content.read(min(n_bytes, size - done))
            headers = {"X-Content-SHA256": hashlib.sha256(piece).hexdigest()}
            try:
                self._connection.request(
                    "PATCH", at, params={"offset": str(done)}, content=piece, headers=headers
                )
            except DiskFull:
                # Room does not come back by itself; what has come stays, and the same command goes on later.
                raise
            except PASSING as error:
                # A link that breaks often gets pieces that come through between the breaks.
                n_bytes = max(LEAST_PIECE_BYTES, n_bytes // 2)
                patience.lose(error)
                patience.pause()
                done = self._where(at, done)
                continue
            except Conflict:
                # An answer got lost: the server is further than we know, or still busy with the lost request.
                patience.pause()
                done = self._where(at, done)
                continue
            patience.connect()
            n_bytes = min(PIECE_BYTES, n_bytes * 2)
            done += len(piece)
            self._progress.add(len(piece))

    def _where(self, at: str, done: int) -> int:
        try:
            now = int(self._connection.fetch(at)["done_bytes"])
        except PASSING:
            return done
        self._progress.add(now - done)
        return now

    def _finish(self, upload: Data, size: int, path: str) -> str:
        """Have a whole upload become a file; where the answer got lost, see whether it did."""
        at = f"{self._at}/uploads/{upload['id']}/finish"
        try:
            answer = self._connection.send("POST", at, is_repeatable=True, timeout=PLACE_S)
        except NotFound:
            there = self._connection.fetch(f"{self._at}/entry", path=path)
            if there["size_bytes"] != size:
                raise
            return path
        return str(answer["path"])

    # Folders

    def folder(self, local: Path, path: str) -> None:
        """Send all that is in a folder; links to folders and what is no file are skipped, and named."""
        self._progress.total_bytes += size_of(str(local))
        with ThreadPoolExecutor(MOST_BATCHES, thread_name_prefix="footplate-upload") as senders:
            sending: deque[Future[None]] = deque()
            for batch in self._batches(local, path):
                if len(sending) == MOST_BATCHES:
                    sending.popleft().result()
                sending.append(senders.submit(self._send, batch, path))
            for one in sending:
                one.result()

    def _batches(self, local: Path, path: str) -> Iterator[Batch]:
        """Put small files together; large ones are sent on the way."""
        batch = Batch()
        for found in files_in(str(local), self._progress.skipped):
            try:
                is_taken = batch.take(found)
            except FileNotFoundError:
                self._progress.skipped.append(found.path)
                continue
            if not is_taken:
                self.file(Path(found.path), f"{path}/{found.name}" if path else found.name, "replace")
            elif batch.is_full:
                yield batch
                batch = Batch()
        if batch.n_files:
            yield batch

    def _send(self, batch: Batch, path: str) -> None:
        self._progress.name = batch.last
        tar, digest = batch.content()
        self._connection.request(
            "POST",
            f"{self._at}/batch",
            params={"path": path},
            content=tar,
            headers={"Content-Type": "application/x-tar", "X-Content-SHA256": digest},
            is_repeatable=True,
            timeout=PLACE_S,
        )
        self._progress.add(batch.n_bytes, batch.n_files)
