"""Files that are being written: in a folder of their own, under ids, until they are whole."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from footplate.machine.foldertree import remove_tree

_ID = re.compile(r"[0-9a-f]{16,64}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
GONE = "gone-"


class FilePart:
    """A part that is a plain file; appending goes to its end."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.size_bytes = os.fstat(fd).st_size

    def append(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            n_written = os.pwrite(self._fd, view, self.size_bytes)
            self.size_bytes += n_written
            view = view[n_written:]

    def read(self, offset: int, n_bytes: int) -> bytes:
        return os.pread(self._fd, n_bytes, offset)

    def truncate(self, n_bytes: int) -> None:
        os.ftruncate(self._fd, n_bytes)
        self.size_bytes = n_bytes

    def fileno(self) -> int:
        return self._fd

    def close(self) -> None:
        os.close(self._fd)


class Parts:
    """The folder of the parts, which `find` opens, or makes, whenever it is needed."""

    def __init__(self, find: Callable[[], int]) -> None:
        self._find = find

    @contextmanager
    def folder(self) -> Iterator[int]:
        fd = self._find()
        try:
            yield fd
        finally:
            os.close(fd)

    def open(self, part_id: str, is_new: bool) -> FilePart:
        """Begin a part, or go on with one; raise `FileNotFoundError` when it is gone."""
        flags = _FILE | (os.O_CREAT | os.O_EXCL if is_new else 0)
        with self.folder() as folder_fd:
            fd = os.open(checked(part_id), flags, 0o644, dir_fd=folder_fd)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise FileNotFoundError(f"part {part_id} is no plain file")
        return FilePart(fd)

    def digest(self, part_id: str) -> str:
        """The SHA-256 of a part."""
        part = self.open(part_id, is_new=False)
        with os.fdopen(part.fileno(), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def discard(self, part_id: str) -> None:
        with self.folder() as folder_fd, suppress(FileNotFoundError):
            os.unlink(checked(part_id), dir_fd=folder_fd)

    def bury(self, name: str, folder_fd: int) -> None:
        """Remove a folder with all that is in it: out of sight at once, then for good."""
        grave = f"{GONE}{os.urandom(8).hex()}"
        with self.folder() as own_fd:
            os.rename(name, grave, src_dir_fd=folder_fd, dst_dir_fd=own_fd)
            remove_tree(Path(f"/proc/self/fd/{own_fd}") / grave)

    def sweep(self, before: float) -> int:
        """Remove what was last touched before an instant; return how many that were."""
        n_removed = 0
        with self.folder() as folder_fd:
            for name in os.listdir(folder_fd):  # noqa: PTH208  # of a descriptor
                with suppress(OSError):
                    if os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_mtime < before:
                        remove_tree(Path(f"/proc/self/fd/{folder_fd}") / name)
                        n_removed += 1
        return n_removed


def checked(part_id: str) -> str:
    if not _ID.fullmatch(part_id):
        raise FileNotFoundError(f"no part has the id {part_id[:64]!r}")
    return part_id


def fresh_id() -> str:
    """Make the id of a part; it sorts by time, for whoever looks into the folder."""
    return f"{int(time.time() * 1000):012x}{os.urandom(10).hex()}"


def parts_in(folder: Path) -> Parts:
    """Parts in a folder of the server's own."""

    def find() -> int:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(folder, _FOLDER)

    return Parts(find)
