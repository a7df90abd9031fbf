"""A bucket that speaks S3 as a storage: AWS, MinIO, COS, OSS and others.

A bucket has names with slashes, and no folders: one is there as long as a name begins with it. An empty one
is held by an object that nobody is shown. What is uploaded lies in the server's spool until it is whole; then
it is sent, in parts where it is large, and appears at once. Moving is copying and deleting, so not atomic.
What there is by which names, `bucketnames` knows; this module moves contents.
"""

from __future__ import annotations

import errno
import fcntl
import io
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from footplate.domain.storage import Storage
from footplate.storages.base import Batch, Entry, EntryKind, Page, Part, Source
from footplate.storages.bucketnames import BucketNames, open_names
from footplate.storages.parts import fresh_id, parts_in
from footplate.storages.paths import HIDDEN, join
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
# In the spool: names what is being sent in parts.
NOTE = ".sending"
PIECE_BYTES = 256 * 1024
SENT_WHOLE_BYTES = 16 * 1024**2
PUT_AT_ONCE, MOST_HELD_BYTES = 8, 8 * 1024**2
LEAST_PART_BYTES, MOST_PARTS, PARTS_AT_ONCE = 8 * 1024**2, 9000, 4
REMOVED_AT_ONCE = 1000
MOST_COPIED_BYTES = 5 * 1024**3
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
    return BucketFiles(store, open_names(storage, credentials), spool, is_writable=not storage.read_only)


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

    def __init__(self, store: S3Store, names: BucketNames, spool: Path, *, is_writable: bool = True) -> None:
        self._store = store
        self._names = names
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
            if self._names.has_below(path):
                return Entry(path, EntryKind.FOLDER)
            raise

    def page(self, path: str, after: str, limit: int) -> Page:
        page = self._names.page(path, after, limit)
        if not page.entries and path and not after:
            self._require_folder(path)
        return page

    def _require_folder(self, path: str) -> None:
        if not self.stat(path).is_folder:
            raise NotADirectoryError(errno.ENOTDIR, "it is a file", path)

    def walk(self, path: str) -> Iterator[Entry]:
        return self._names.walk(path)

    def open(self, path: str, entry: Entry | None = None) -> Source:
        entry = entry or self.stat(path)
        if entry.is_folder:
            raise IsADirectoryError(errno.EISDIR, "it is a folder", path)

        def fetch(start: int, n_bytes: int) -> Iterator[memoryview]:
            options: Any = {"range": (start, start + n_bytes)}
            if entry.tag:
                options["if_match"] = f'"{entry.tag}"'
            with _as_files_say(path):
                # In pieces, as they lie there: large ones take new memory each, which costs more time.
                for piece in obstore.get(self._store, path, options=options).stream(PIECE_BYTES):
                    yield memoryview(piece)

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
        is_in_parts = size_bytes > SENT_WHOLE_BYTES
        with self._noted(path) if is_in_parts else nullcontext(), _as_files_say(path):
            obstore.put(
                self._store,
                path,
                file,
                use_multipart=is_in_parts,
                chunk_size=_part_bytes(size_bytes),
                max_concurrency=PARTS_AT_ONCE,
            )

    @contextmanager
    def _noted(self, path: str) -> Iterator[None]:
        """Note what is sent in parts until it is whole: of what was cut, the bucket keeps the parts."""
        self._spool.mkdir(mode=0o700, parents=True, exist_ok=True)
        note = self._spool / f"{fresh_id()}{NOTE}"
        with note.open("x") as out:
            fcntl.flock(out, fcntl.LOCK_EX)
            out.write(path)
            out.flush()
            yield
            note.unlink(missing_ok=True)

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
        with ThreadPoolExecutor(PUT_AT_ONCE, thread_name_prefix="footplate-bucket") as senders:
            batch = _BucketBatch(self._store, senders)
            yield batch
            batch.settle()

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
        here = self.stat(source)
        if here.is_folder:
            raise IsADirectoryError(errno.EISDIR, "it is a folder", source)
        self._require_place(target, replaces)
        self._copy(source, target, here.size_bytes)
        return self.stat(target)

    def _copy(self, source: str, target: str, size_bytes: int) -> None:
        if size_bytes <= MOST_COPIED_BYTES:
            with _as_files_say(source):
                obstore.copy(self._store, source, target)
            return
        # The bucket's server copies no more than that in one go.
        with self._noted(target):
            self._names.copy_in_parts(source, target, size_bytes)

    def move(self, source: str, target: str, *, replaces: bool) -> Entry:
        here = self.stat(source)
        if not here.is_folder:
            self.copy(source, target, replaces=replaces)
            self.remove(source, recursive=False)
            return self.stat(target)
        self.make_folder(target, is_new=True)
        for key, size_bytes in self._names.keys(source):
            path = self._names.path_of(key)
            if path is None:
                self._names.copy(key, source, target)
            else:
                self._copy(path, join(target, path[len(source) + 1 :]), size_bytes)
        self.remove(source, recursive=True)
        return self.stat(target)

    def remove(self, path: str, *, recursive: bool) -> None:
        if not self.stat(path).is_folder:
            with _as_files_say(path):
                obstore.delete(self._store, path)
            return
        if not recursive and _holds(self.page(path, "", 1)):
            raise OSError(errno.ENOTEMPTY, "the folder is not empty", path)
        held: list[str] = []
        for key, _ in self._names.keys(path):
            inner = self._names.path_of(key)
            if inner is None:
                self._names.remove(key)
            else:
                held.append(inner)
        for begin in range(0, len(held), REMOVED_AT_ONCE):
            with _as_files_say(path):
                obstore.delete(self._store, held[begin : begin + REMOVED_AT_ONCE])

    def sweep(self, before: float) -> int:
        if not self._spool.exists():
            return 0
        n_removed = self._parts.sweep(before)
        for note in self._spool.glob(f"*{NOTE}"):
            n_removed += self._give_up(note)
        return n_removed

    def _give_up(self, note: Path) -> bool:
        """Have the bucket forget the parts of what was cut; what is being sent just now holds its note."""
        try:
            with note.open() as held:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._names.give_up_parts(held.read())
                note.unlink(missing_ok=True)
        except (BlockingIOError, FileNotFoundError):
            return False
        return True


class _BucketBatch:
    """Sends several small objects at once: each takes a whole trip to the bucket's server."""

    def __init__(self, store: S3Store, senders: ThreadPoolExecutor) -> None:
        self._store, self._senders = store, senders
        self._sending: dict[str, Future[None]] = {}
        self._held_bytes = 0

    def write(self, path: str, data: bytes, is_executable: bool) -> None:  # noqa: ARG002  # objects are not run
        if path in self._sending or self._held_bytes + len(data) > MOST_HELD_BYTES:
            # What comes again must be the last; and what waits is kept in memory.
            self.settle()
        self._held_bytes += len(data)
        self._sending[path] = self._senders.submit(self._send, path, data)

    def _send(self, path: str, data: bytes) -> None:
        with _as_files_say(path):
            obstore.put(self._store, path, data)

    def settle(self) -> None:
        """Wait for all that is being sent; raise the first fault."""
        sending, self._sending, self._held_bytes = self._sending, {}, 0
        for one in sending.values():
            one.result()


def _holds(page: Page) -> bool:
    return bool(page.entries or page.n_unnamed)


def _part_bytes(size_bytes: int) -> int:
    return max(LEAST_PART_BYTES, size_bytes // MOST_PARTS + 1)


def _entry(path: str, meta: Mapping[str, Any]) -> Entry:
    tag = (meta.get("e_tag") or "").strip('"')
    return Entry(path, EntryKind.FILE, int(meta["size"]), meta["last_modified"].timestamp(), tag)
