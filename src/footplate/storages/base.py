"""The seam between what people do with files and the kinds of storages.

Every method may wait for a disk or a network, so whoever calls runs it in a thread (`storages/lanes.py`).
Paths are relative to the storage, cleaned by `storages/paths.py`, and empty for its root. What goes wrong is
told by the exceptions that Python has for files: `FileNotFoundError`, `FileExistsError`,
`NotADirectoryError`, `IsADirectoryError`, `PermissionError`, `io.UnsupportedOperation`, else `OSError`.

Guarantees, each tested for every kind that can write:

1. A path never leads out of the storage, whatever links are there and whoever changes them meanwhile.
2. A file is replaced whole: at every moment a reader finds the old or the new one, a crash included.
3. What is being written is no file yet: it is neither listed nor walked through.
4. No method holds more than a few MiB of a file, or of a folder's files, in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

CHUNK_BYTES = 1024**2


class EntryKind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    # Pipes, sockets, devices, and links that lead nowhere or out of the storage.
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder of a storage; `tag` changes when its content does."""

    path: str
    kind: EntryKind
    size_bytes: int = 0
    modified_at: float | None = None
    tag: str = ""
    is_link: bool = False
    is_executable: bool = False

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_folder(self) -> bool:
        return self.kind is EntryKind.FOLDER


@dataclass(frozen=True, slots=True)
class Page:
    """Some entries of a folder by name; `after` is where the next page begins, empty for the last one.

    `n_unnamed` counts entries of this page whose names are not text: nobody can ask for them.
    """

    entries: Sequence[Entry]
    after: str = ""
    n_unnamed: int = 0


@runtime_checkable
class Listless(Protocol):
    """A storage that cannot list its files, and is tried in another way."""

    def reach(self) -> None:
        """Raise what keeps us from it."""
        ...


class Source(Protocol):
    """An open file: what it was when it was opened, read by ranges."""

    entry: Entry

    def read(self, offset: int, n_bytes: int) -> bytes:
        """Read up to so many bytes; empty at the end."""
        ...

    def fetch(self, offset: int, n_bytes: int) -> Iterator[bytes | memoryview]:
        """Yield this range piece by piece and no more, from any thread; shorter only at the end."""
        ...

    def fileno(self) -> int | None:
        """The descriptor of a plain file, from which the kernel can send by itself; None for all else."""
        ...

    def close(self) -> None: ...


class Part(Protocol):
    """A file that is being written, known by an id until it is whole; it survives the server."""

    size_bytes: int

    def append(self, data: bytes) -> None: ...

    def read(self, offset: int, n_bytes: int) -> bytes:
        """Read up to so many bytes of what was written; empty at the end."""
        ...

    def truncate(self, n_bytes: int) -> None: ...

    def close(self) -> None: ...


class Batch(Protocol):
    """Writes small files one after the other, each whole, and keeps open what the next may need too."""

    def write(self, path: str, data: bytes, is_executable: bool) -> None:
        """Write a file, in place of one that is there, and the folders around it."""
        ...


@runtime_checkable
class OnDisk(Protocol):
    """What storages offer that lie on a disk of this machine."""

    def device(self) -> int:
        """The number of that disk, as the kernel has it."""
        ...


@runtime_checkable
class Adopts(Protocol):
    """What storages offer that can take a file of this machine in without a copy of it."""

    def adopt(self, fd: int, path: str, is_executable: bool) -> bool:
        """Give an open file, which nobody writes to any more, a second name; False where that cannot be."""
        ...


class Files(Protocol):
    """The files of one storage."""

    is_writable: bool

    def page(self, path: str, after: str, limit: int) -> Page:
        """List a folder by name, from the first name behind `after`."""
        ...

    def stat(self, path: str) -> Entry: ...

    def walk(self, path: str) -> Iterator[Entry]:
        """Yield all that is below a folder, each folder before what is in it."""
        ...

    def open(self, path: str, entry: Entry | None = None) -> Source:
        """Open a file; with its entry of a moment ago, where that saves a question, as what it was then."""
        ...

    def part(self, part_id: str, is_new: bool) -> Part:
        """Begin a file, or go on with one."""
        ...

    def place(self, part_id: str, path: str, *, replaces: bool, is_executable: bool = False) -> Entry:
        """Make a part the file at a path, and the folders around it."""
        ...

    def digest(self, part_id: str) -> str:
        """The SHA-256 of a part, as hexadecimal digits."""
        ...

    def batch(self) -> AbstractContextManager[Batch]:
        """Begin to write many small files."""
        ...

    def discard(self, part_id: str) -> None:
        """Forget a part; silent where there is none."""
        ...

    def make_folder(self, path: str, *, is_new: bool = False) -> Entry:
        """Make a folder and those around it; with `is_new`, raise `FileExistsError` when it is there."""
        ...

    def move(self, source: str, target: str, *, replaces: bool) -> Entry: ...

    def copy(self, source: str, target: str, *, replaces: bool) -> Entry:
        """Copy one file within the storage, without the bytes passing through here where that can be."""
        ...

    def remove(self, path: str, *, recursive: bool) -> None: ...

    def sweep(self, before: float) -> int:
        """Remove what uploads and deletions have left that were last touched before an instant."""
        ...
