"""A web server as a storage from which can only be read: files by their addresses, and no lists of them."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import NoReturn
from urllib.parse import quote

import httpx

from footplate.storages.base import Batch, Entry, EntryKind, Page, Part, Source
from footplate.storages.ranged import RangedSource

CONNECT_S, ANSWER_S = 5.0, 60.0
MOST_REDIRECTS = 5


class WebFiles:
    """The files below an address."""

    is_writable = False

    def __init__(self, address: str, credentials: Mapping[str, str]) -> None:
        headers = {"Accept-Encoding": "identity"}
        if token := credentials.get("token"):
            headers["Authorization"] = f"Bearer {token}"
        username, password = credentials.get("username"), credentials.get("password", "")
        self._address = address.rstrip("/")
        self._http = httpx.Client(
            headers=headers,
            auth=(username, password) if username else None,
            timeout=httpx.Timeout(ANSWER_S, connect=CONNECT_S),
            follow_redirects=True,
            max_redirects=MOST_REDIRECTS,
        )

    def stat(self, path: str) -> Entry:
        if not path:
            return Entry("", EntryKind.FOLDER)
        with self._asked("HEAD", path) as answer:
            return _entry(path, answer.headers)

    def reach(self) -> None:
        """Ask for the address itself; that nothing is there to be read is an answer as well."""
        try:
            status = self._http.head(f"{self._address}/").status_code
        except httpx.HTTPError as error:
            raise _silent(error, "") from None
        if status not in (httpx.codes.NOT_FOUND, httpx.codes.METHOD_NOT_ALLOWED):
            _require_success(status, "")

    def open(self, path: str, entry: Entry | None = None) -> Source:
        entry = entry or self.stat(path)
        if entry.is_folder:
            raise IsADirectoryError(errno.EISDIR, "it is the root", path)
        return RangedSource(entry, lambda start, n_bytes: self._fetch(path, start, n_bytes))

    def _fetch(self, path: str, start: int, n_bytes: int) -> Iterator[bytes]:
        """Fetch a range; from a server that knows none, all that comes before it as well."""
        with self._asked("GET", path, {"Range": f"bytes={start}-{start + n_bytes - 1}"}) as answer:
            skipped, left = (0 if answer.status_code == httpx.codes.PARTIAL_CONTENT else start), n_bytes
            for chunk in answer.iter_raw():
                if piece := chunk[skipped : skipped + left]:
                    left -= len(piece)
                    yield piece
                skipped = max(0, skipped - len(chunk))
                if not left:
                    return

    @contextmanager
    def _asked(
        self, method: str, path: str, headers: Mapping[str, str] | None = None
    ) -> Iterator[httpx.Response]:
        try:
            with self._http.stream(method, f"{self._address}/{quote(path)}", headers=headers) as answer:
                _require_success(answer.status_code, path)
                yield answer
        except httpx.HTTPError as error:
            raise _silent(error, path) from None

    # What a web server cannot do

    def page(self, path: str, after: str, limit: int) -> Page:
        _refuse("a web server has no list of its files")

    def walk(self, path: str) -> Iterator[Entry]:
        _refuse("a web server has no list of its files")

    def part(self, part_id: str, is_new: bool) -> Part:
        _refuse("it is read-only")

    def place(self, part_id: str, path: str, *, replaces: bool, is_executable: bool = False) -> Entry:
        _refuse("it is read-only")

    def digest(self, part_id: str) -> str:
        _refuse("it is read-only")

    @contextmanager
    def batch(self) -> Iterator[Batch]:
        _refuse("it is read-only")

    def discard(self, part_id: str) -> None:
        _refuse("it is read-only")

    def make_folder(self, path: str, *, is_new: bool = False) -> Entry:
        _refuse("it is read-only")

    def move(self, source: str, target: str, *, replaces: bool) -> Entry:
        _refuse("it is read-only")

    def copy(self, source: str, target: str, *, replaces: bool) -> Entry:
        _refuse("it is read-only")

    def remove(self, path: str, *, recursive: bool) -> None:
        _refuse("it is read-only")

    def sweep(self, before: float) -> int:
        return 0


def _refuse(why: str) -> NoReturn:
    raise io.UnsupportedOperation(why)


def _silent(error: httpx.HTTPError, path: str) -> OSError:
    # Without the address, which may not be for everybody who may read.
    return OSError(errno.EIO, f"the web server does not answer ({type(error).__name__})", path)


def _require_success(status: int, path: str) -> None:
    if status in (httpx.codes.NOT_FOUND, httpx.codes.GONE):
        raise FileNotFoundError(errno.ENOENT, "the web server has no such file", path)
    if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        raise PermissionError(errno.EACCES, "the web server refuses to hand it out", path)
    if not httpx.codes.is_success(status):
        raise OSError(errno.EIO, f"the web server answers with status {status}", path)


def _entry(path: str, headers: httpx.Headers) -> Entry:
    size = headers.get("content-length", "")
    if not size.isdecimal():
        raise io.UnsupportedOperation("the web server does not say how large the file is")
    try:
        modified_at = parsedate_to_datetime(headers.get("last-modified", "")).timestamp()
    except ValueError:
        modified_at = None
    tag = headers.get("etag", "").removeprefix("W/").strip('"') or f"{modified_at}-{size}"
    return Entry(path, EntryKind.FILE, int(size), modified_at, tag)
