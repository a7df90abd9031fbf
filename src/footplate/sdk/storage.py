"""The files of a storage, as Python calls."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import quote

from footplate.domain.errors import InvalidInput, NotFound
from footplate.sdk.connection import Connection
from footplate.sdk.downloading import Downloader
from footplate.sdk.uploading import PLACE_S, WHOLE_BYTES, Progress, Uploader

Data = dict[str, Any]
LocalPath = str | os.PathLike[str]
Tell = Callable[[Progress], None]
READ_BYTES = 1024**2


class Storage:
    """One storage by its name; paths on it are written with slashes, the root is empty."""

    def __init__(self, connection: Connection, name: str) -> None:
        self.name = name
        self._connection = connection
        self._at = f"/storages/{quote(name, safe='')}"

    def __repr__(self) -> str:
        return f"Storage({self.name!r})"

    # Looking

    def entries(self, path: str = "") -> Iterator[Data]:
        """Yield what is in a folder, by name."""
        return Downloader(self._connection, self.name, Progress()).entries(path)

    def stat(self, path: str = "") -> Data:
        """Tell of one file or folder; raise `NotFound` when it is not there."""
        found: Data = self._connection.fetch(f"{self._at}/entry", path=path)
        return found

    def exists(self, path: str) -> bool:
        try:
            self.stat(path)
        except NotFound:
            return False
        return True

    def usage(self, path: str = "") -> Data:
        """Count the files and bytes below a path."""
        params = {"path": path}
        found: Data = self._connection.request(
            "GET", f"{self._at}/usage", params=params, timeout=PLACE_S
        ).json()
        return found

    def preview(self, path: str) -> Data:
        """Show the beginning of a file, as text or as the rows of a table."""
        found: Data = self._connection.fetch(f"{self._at}/preview", path=path)
        return found

    # Reading and writing

    def read(self, path: str) -> Iterator[bytes]:
        """Yield the content of a file in chunks."""
        return Downloader(self._connection, self.name, Progress()).chunks(path)

    def read_bytes(self, path: str) -> bytes:
        return b"".join(self.read(path))

    def write_bytes(self, path: str, data: bytes, *, if_exists: str = "replace") -> str:
        """Write a small file; return the path that it got."""
        return Uploader(self._connection, self.name, Progress()).whole(data, path, if_exists)

    def open(self, path: str, mode: str = "r", *, encoding: str = "utf-8") -> IO[Any]:
        """Open a file as Python's `open` does: `r` and `rb` to read, `w` and `wb` to write it anew.

        What is written is sent when the file is closed; after an error within `with`, it is not.
        """
        if mode not in ("r", "rb", "w", "wb"):
            raise InvalidInput("not_file_mode", "mode", given=mode)
        if mode[0] == "w":
            writer = _Writer(Uploader(self._connection, self.name, Progress()), path)
            return cast("IO[Any]", writer) if mode == "wb" else _TextWriter(writer, encoding)
        size = int(self.stat(path)["size_bytes"])
        reader = io.BufferedReader(_Reader(partial(self._range, path), size), READ_BYTES)
        return cast("IO[Any]", reader) if mode == "rb" else io.TextIOWrapper(reader, encoding)

    def _range(self, path: str, start: int, n_bytes: int) -> bytes:
        headers = {"Range": f"bytes={start}-{start + n_bytes - 1}"}
        return self._connection.request(
            "GET", f"{self._at}/content", params={"path": path}, headers=headers
        ).content

    def upload(
        self,
        local: LocalPath,
        path: str = "",
        *,
        if_exists: str = "replace",
        on_progress: Tell = lambda _progress: None,
    ) -> str:
        """Send a file or a folder with all that is in it; return the path that it got.

        It goes into `path` under its own name where that is a folder or ends with a slash, else it gets that
        path. What is there is replaced, refused (`if_exists="refuse"`), or left alone: `"subfolder"` puts
        what comes again into a new folder with the next number. A large file that was cut goes on.
        """
        source = Path(local)
        progress = Progress(on_progress)
        sender = Uploader(self._connection, self.name, progress)
        target = self._target(path, source.resolve().name)
        if source.is_dir():
            target = self._folder_for(target, if_exists)
            sender.folder(source, target)
            return target
        progress.total_bytes = source.stat().st_size
        return sender.file(source, target, if_exists)

    def _target(self, path: str, name: str) -> str:
        is_folder = path in ("", "/") or path.endswith("/")
        if not is_folder:
            try:
                is_folder = self.stat(path)["kind"] == "folder"
            except NotFound:
                return path
        return f"{path.strip('/')}/{name}".lstrip("/") if is_folder else path

    def _folder_for(self, path: str, if_exists: str) -> str:
        """Make the folder into which a folder goes."""
        if if_exists == "replace" or not self.exists(path):
            return str(self.make_folder(path)["path"])
        if if_exists == "refuse":
            self._connection.send("POST", f"{self._at}/folders", {"path": path, "is_new": True})
        around, _, name = path.rpartition("/")
        beside = self._connection.send("POST", f"{self._at}/folders", {"path": around, "numbered": True})
        return str(self.make_folder(f"{beside['path']}/{name}")["path"])

    def download(
        self, path: str, local: LocalPath = ".", *, on_progress: Tell = lambda _progress: None
    ) -> Path:
        """Fetch a file or a folder; into `local` under its own name where that is a folder."""
        entry, target = self.stat(path), Path(local)
        if target.is_dir():
            target = target / (entry["name"] or self.name)
        progress = Progress(on_progress, total_bytes=entry["size_bytes"])
        fetcher = Downloader(self._connection, self.name, progress)
        if entry["kind"] == "folder":
            progress.total_bytes = self.usage(path)["size_bytes"]
            fetcher.folder(entry["path"], target)
        else:
            fetcher.file(entry["path"], target, entry["is_executable"])
        return target

    # Changing

    def make_folder(self, path: str) -> Data:
        """Make a folder, and those around it."""
        made: Data = self._connection.send("POST", f"{self._at}/folders", {"path": path}, is_repeatable=True)
        return made

    def move(self, path: str, target: str, *, storage: str | None = None, replaces: bool = False) -> Data:
        """Move a file or folder, within this storage or to another one."""
        return self._relocate("move", path, target, storage, replaces)

    def copy(self, path: str, target: str, *, storage: str | None = None, replaces: bool = False) -> Data:
        """Copy a file or folder, within this storage or to another one."""
        return self._relocate("copy", path, target, storage, replaces)

    def _relocate(self, verb: str, path: str, target: str, storage: str | None, replaces: bool) -> Data:
        place = {"storage": storage or self.name, "path": target}
        body = {"source": path, "target": place, "replaces": replaces}
        done: Data = self._connection.send("POST", f"{self._at}/{verb}", body, timeout=PLACE_S)
        return done

    def remove(self, path: str, *, recursive: bool = False) -> None:
        """Delete a file, or a folder: one that is not empty only with `recursive`."""
        params = {"path": path, "recursive": "true" if recursive else None}
        self._connection.request("DELETE", f"{self._at}/entries", params=params, timeout=PLACE_S)


class _Reader(io.RawIOBase):
    """Reads a file by ranges, so that one can seek in it."""

    def __init__(self, fetch: Callable[[int, int], bytes], size: int) -> None:
        self._fetch, self._size, self._at = fetch, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), self._size - self._at)
        if wanted <= 0:
            return 0
        data = self._fetch(self._at, wanted)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class _Writer(io.BufferedIOBase):
    """Holds what is written in a file of this machine, and sends it at the end."""

    def __init__(self, uploader: Uploader, path: str) -> None:
        self._uploader, self._path = uploader, path
        self._held = tempfile.TemporaryFile()  # noqa: SIM115  # closed with this one
        self.is_abandoned = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._held.write(data)

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        with self._held as held:
            if not self.is_abandoned:
                self._send(held)

    def _send(self, held: IO[bytes]) -> None:
        size = held.tell()
        held.seek(0)
        if size <= WHOLE_BYTES:
            self._uploader.whole(held.read(), self._path, "replace")
        else:
            self._uploader.pieces(held, size, self._path, "replace", is_executable=False)

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self.is_abandoned = kind is not None
        self.close()


class _TextWriter(io.TextIOWrapper):
    """Text over a writer that learns of errors too."""

    def __init__(self, writer: _Writer, encoding: str) -> None:
        super().__init__(cast("IO[bytes]", writer), encoding)
        self._writer = writer

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._writer.is_abandoned = kind is not None
        self.close()
