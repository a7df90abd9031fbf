"""A bucket that speaks S3 as a storage: AWS, MinIO, COS, OSS and others.

A bucket has names with slashes, and no folders: one is there as long as a name begins with it. An empty one
is held by an object that nobody is shown. What is uploaded lies in the server's spool until it is whole; then
it is sent, in parts where it is large, and appears at once. Moving is copying and deleting, so not atomic.
"""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from footplate.domain.storage import Storage
from footplate.storages.base import Batch, Entry, EntryKind, Page, Part, Source
from footplate.storages.parts import parts_in
from footplate.storages.paths import HIDDEN, is_hidden, is_within, join
from footplate.storages.ranged import RangedSource

try:
    import obstore
    from obstore import exceptions
    from obstore.store import S3Store
except ImportError as error:  # pragma: no cover  # the tests have it
    raise io.UnsupportedOperation(
        "this server was installed without S3: pip install 'footplate[s3]'"
    ) from error

# In an otherwise empty folder.
FOLDER_MARK = f"{HIDDEN}-folder"
SENT_WHOLE_BYTES = 16 * 1024**2
LEAST_PART_BYTES, MOST_PARTS, PARTS_AT_ONCE = 8 * 1024**2, 9000, 4
REMOVED_AT_ONCE = 1000
CONNECT_S, ANSWER_S, RETRY_FOR_S = 5, 60, 20
MOST_TOLD = 200


def open_bucket(storage: Storage, credentials: Mapping[str, str], spool: Path) -> BucketFiles:
    """Open the bucket that a storage names; without credentials, as anybody."""
    config: Any = {"region": storage.region or "us-east-1"}
    if credentials:
        named = {"secret_access_key": "secret_access_key", "session_token": "token"}
        config["access_key_id"] = credentials["access_key_id"]
        config |= {key: credentials[name] for name, key in named.items() if credentials.get(name)}
    else:
        # Never with keys that the server's own surroundings offer.
        config["skip_signature"] = True
    config["virtual_hosted_style_request"] = storage.virtual_style
    if storage.endpoint:
        config["endpoint"] = _endpoint(storage)
    with _as_files_say(""):
        store = S3Store(
            storage.bucket,
            prefix=storage.prefix.strip("/") or None,
            config=config,
            client_options={
                "allow_http": True,
                "connect_timeout": timedelta(seconds=CONNECT_S),
                "timeout": timedelta(seconds=ANSWER_S),
            },
            retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=RETRY_FOR_S)},
        )
    return BucketFiles(store, spool, is_writable=not storage.read_only)


def _endpoint(storage: Storage) -> str:
    if not storage.virtual_style:
        return storage.endpoint
    parts = urlsplit(storage.endpoint)
    return f"{parts.scheme}://{storage.bucket}.{parts.netloc}{parts.path}"


@contextmanager
def _as_files_say(path: str) -> Iterator[None]:
    """Tell in the words of files what the bucket's server has refused."""
    try:
        yield
    except (FileNotFoundError, exceptions.NotFoundError):
        raise FileNotFoundError(errno.ENOENT, "the bucket has no such object", path) from None
    except exceptions.AlreadyExistsError:
        raise FileExistsError(errno.EEXIST, "the bucket has such an object already", path) from None
    except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError):
        raise PermissionError(
            errno.EACCES, "the server of the bucket refuses the credentials", path
        ) from None
    except exceptions.PreconditionError:
        raise OSError(errno.EAGAIN, "it has changed while it was read", path) from None
    except exceptions.BaseError as error:
        first_line = str(error).partition("\n")[0][:MOST_TOLD]
        raise OSError(errno.EIO, first_line or type(error).__name__, path) from None


class BucketFiles:
    """The objects of a bucket below a prefix."""

    def __init__(self, store: S3Store, spool: Path, *, is_writable: bool = True) -> None:
        self._store = store
        self._spool = spool
        self._parts = parts_in(spool)
        self.is_writable = is_writable

    # Reading

    def stat(self, path: str) -> Entry:
        if not path:
            return Entry("", EntryKind.FOLDER)
        try:
            with _as_files_say(path):
                return _entry(path, obstore.head(self._store, path))
        except FileNotFoundError:
            if self._has_below(path):
                return Entry(path, EntryKind.FOLDER)
            raise

    def _has_below(self, path: str) -> bool:
        with _as_files_say(path):
            first = next(iter(obstore.list(self._store, path, chunk_size=1)), [])
        return any(is_within(str(meta["path"]), path) for meta in first)

    def page(self, path: str, after: str, limit: int) -> Page:
        with _as_files_say(path):
            found = obstore.list_with_delimiter(self._store, path or None)
        inner = [Entry(_plain(prefix), EntryKind.FOLDER) for prefix in found["common_prefixes"]]
        entries = [*inner, *(_entry(_plain(meta["path"]), meta) for meta in found["objects"])]
        if not entries and path:
            self._require_folder(path)
        shown = (one for one in entries if one.name > after and not is_hidden(one.name))
        ordered = sorted(shown, key=lambda one: one.name)
        return Page(ordered[:limit], ordered[limit - 1].name if len(ordered) > limit else "")

    def _require_folder(self, path: str) -> None:
        if not self.stat(path).is_folder:
            raise NotADirectoryError(errno.ENOTDIR, "it is a file", path)

    def walk(self, path: str) -> Iterator[Entry]:
        told: set[str] = set()
        with _as_files_say(path):
            for batch in obstore.list(self._store, path or None, chunk_size=1000):
                for meta in batch:
                    here = _plain(meta["path"])
                    yield from _new_folders(here, path, told)
                    if not is_hidden(here.rpartition("/")[2]):
                        yield _entry(here, meta)

    def open(self, path: str, entry: Entry | None = None) -> Source:
        entry = entry or self.stat(path)
        if entry.is_folder:
            raise IsADirectoryError(errno.EISDIR, "it is a folder", path)

        def fetch(start: int, n_bytes: int) -> bytes:
            options: Any = {"range": (start, start + n_bytes)}
            if entry.tag:
                options["if_match"] = f'"{entry.tag}"'
            with _as_files_say(path):
                return bytes(obstore.get(self._store, path, options=options).bytes())

        return RangedSource(entry, fetch)

    # Writing

    def part(self, part_id: str, is_new: bool) -> Part:
        return self._parts.open(part_id, is_new)

    def digest(self, part_id: str) -> str:
        return self._parts.digest(part_id)

    def discard(self, part_id: str) -> None:
        self._parts.discard(part_id)

    def place(self, part_id: str, path: str, *, replaces: bool, is_executable: bool = False) -> Entry:  # noqa: ARG002  # objects are not run
        self._require_place(path, replaces)
        part = self._parts.open(part_id, is_new=False)
        part.close()
        self._send(self._spool / part_id, path, part.size_bytes)
        self._parts.discard(part_id)
        return self.stat(path)

    def _send(self, file: Path, path: str, size_bytes: int) -> None:
        with _as_files_say(path):
            obstore.put(
                self._store,
                path,
                file,
                use_multipart=size_bytes > SENT_WHOLE_BYTES,
                chunk_size=max(LEAST_PART_BYTES, size_bytes // MOST_PARTS + 1),
                max_concurrency=PARTS_AT_ONCE,
            )

    def _require_place(self, path: str, replaces: bool) -> None:
        """Refuse what a file system would: a file where a folder is, or where something must not go."""
        try:
            there = self.stat(path)
        except FileNotFoundError:
            return
        if there.is_folder:
            raise IsADirectoryError(errno.EISDIR, "it is a folder", path)
        if not replaces:
            raise FileExistsError(errno.EEXIST, "it is there already", path)

    @contextmanager
    def batch(self) -> Iterator[Batch]:
        yield _BucketBatch(self._store)

    def make_folder(self, path: str, *, is_new: bool = False) -> Entry:
        try:
            there = self.stat(path)
        except FileNotFoundError:
            with _as_files_say(path):
                obstore.put(self._store, join(path, FOLDER_MARK), b"")
            return Entry(path, EntryKind.FOLDER)
        if not there.is_folder:
            raise NotADirectoryError(errno.ENOTDIR, "it is a file", path)
        if is_new:
            raise FileExistsError(errno.EEXIST, "it is there already", path)
        return there

    def copy(self, source: str, target: str, *, replaces: bool) -> Entry:
        if self.stat(source).is_folder:
            raise IsADirectoryError(errno.EISDIR, "it is a folder", source)
        self._require_place(target, replaces)
        with _as_files_say(source):
            obstore.copy(self._store, source, target)
        return self.stat(target)

    def move(self, source: str, target: str, *, replaces: bool) -> Entry:
        here = self.stat(source)
        if not here.is_folder:
            self.copy(source, target, replaces=replaces)
            self.remove(source, recursive=False)
            return self.stat(target)
        self.make_folder(target, is_new=True)
        for name in self._keys(source):
            with _as_files_say(name):
                obstore.copy(self._store, name, join(target, name[len(source) + 1 :]))
        self.remove(source, recursive=True)
        return self.stat(target)

    def remove(self, path: str, *, recursive: bool) -> None:
        if not self.stat(path).is_folder:
            with _as_files_say(path):
                obstore.delete(self._store, path)
            return
        if not recursive and self.page(path, "", 1).entries:
            raise OSError(errno.ENOTEMPTY, "the folder is not empty", path)
        names = list(self._keys(path))
        for begin in range(0, len(names), REMOVED_AT_ONCE):
            with _as_files_say(path):
                obstore.delete(self._store, names[begin : begin + REMOVED_AT_ONCE])

    def _keys(self, path: str) -> Iterator[str]:
        with _as_files_say(path):
            for batch in obstore.list(self._store, path, chunk_size=1000):
                yield from (_plain(meta["path"]) for meta in batch)

    def sweep(self, before: float) -> int:
        return self._parts.sweep(before) if self._spool.exists() else 0


class _BucketBatch:
    def __init__(self, store: S3Store) -> None:
        self._store = store

    def write(self, path: str, data: bytes, is_executable: bool) -> None:  # noqa: ARG002  # objects are not run
        with _as_files_say(path):
            obstore.put(self._store, path, data)


def _plain(path: object) -> str:
    return str(path).strip("/")


def _entry(path: str, meta: Mapping[str, Any]) -> Entry:
    tag = (meta.get("e_tag") or "").strip('"')
    return Entry(path, EntryKind.FILE, int(meta["size"]), meta["last_modified"].timestamp(), tag)


def _new_folders(path: str, below: str, told: set[str]) -> Iterator[Entry]:
    """The folders around a path that were not told of yet, the outermost first."""
    names = path.split("/")[:-1]
    n_below = len(below.split("/")) if below else 0
    for depth in range(n_below + 1, len(names) + 1):
        folder = "/".join(names[:depth])
        if folder not in told:
            told.add(folder)
            yield Entry(folder, EntryKind.FOLDER)
