"""Puts small files together, so that many travel in one request, as a tar."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

# What goes into one request.
SMALL_BYTES, BATCH_BYTES, BATCH_FILES = 1024**2, 8 * 1024**2, 500
BLOCK_BYTES = 512
NAME_BYTES = 100
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
# All of a header behind the size: no owner, no date, a plain file.
_REST = (b"%011o\0" % 0 + b"        " + b"0").ljust(121, b"\0") + b"ustar\x0000"
_REST = _REST.ljust(BLOCK_BYTES - 136, b"\0")
_REST_SUM = sum(_REST)


@dataclass(frozen=True, slots=True)
class Found:
    """A plain file below a folder; `name` is its path there."""

    path: str
    name: str


def files_in(folder: str, skipped: list[str]) -> Iterator[Found]:
    """Yield the plain files below a folder, each folder's together; name what is skipped.

    Links to files are followed, links to folders are not.
    """
    waiting = [("", folder)]
    while waiting:
        inner, place = waiting.pop()
        try:
            with os.scandir(place) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            skipped.append(place)
            continue
        folders = []
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append((f"{inner}{entry.name}/", entry.path))
            elif entry.is_file():
                yield Found(entry.path, f"{inner}{entry.name}")
            else:
                skipped.append(entry.path)
        waiting += reversed(folders)


def size_of(folder: str) -> int:
    """Add up the plain files below a folder."""
    size_bytes = 0
    for found in files_in(folder, []):
        try:
            size_bytes += os.stat(found.path).st_size  # noqa: PTH116  # very many
        except OSError:
            continue
    return size_bytes


class Batch:
    """Small files as one tar, with its digest."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.n_files = self.n_bytes = 0
        self.last = ""

    def take(self, found: Found) -> bool:
        """Add a file, unless it is too large to go along with others."""
        fd = os.open(found.path, _READ)
        try:
            status = os.fstat(fd)
            if status.st_size > SMALL_BYTES or not stat.S_ISREG(status.st_mode):
                return False
            data = _read(fd, status.st_size)
        finally:
            os.close(fd)
        if len(data) > SMALL_BYTES:
            return False
        self.add(found.name, data, bool(status.st_mode & 0o100))
        return True

    def add(self, name: str, data: bytes, is_executable: bool) -> None:
        mode = 0o755 if is_executable else 0o644
        self._parts += (_header(name, len(data), mode), data, b"\0" * (-len(data) % BLOCK_BYTES))
        self.n_files, self.n_bytes, self.last = self.n_files + 1, self.n_bytes + len(data), name

    @property
    def is_full(self) -> bool:
        return self.n_files >= BATCH_FILES or self.n_bytes >= BATCH_BYTES

    def content(self) -> tuple[bytes, str]:
        """The tar, and its SHA-256."""
        tar = b"".join((*self._parts, b"\0" * (2 * BLOCK_BYTES)))
        return tar, hashlib.sha256(tar).hexdigest()


def _read(fd: int, size: int) -> bytes:
    """Read a file that may be growing: what it has now, or a little more."""
    data = os.read(fd, size + 1)
    while len(data) < size and (more := os.read(fd, size + 1 - len(data))):
        data += more
    return data


def _header(name: str, size: int, mode: int) -> bytes:
    """Write a header by hand: Python's own takes most of the time that such an upload takes."""
    encoded = os.fsencode(name)
    if len(encoded) > NAME_BYTES or not name.isascii():
        # Loaded when used: most commands send no files.
        import tarfile

        info = tarfile.TarInfo(name)
        info.size, info.mode = size, mode
        return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    first = encoded.ljust(NAME_BYTES, b"\0") + b"%07o\0%07o\0%07o\0%011o\0" % (mode, 0, 0, size)
    header = first + _REST
    return b"%s%06o\0%s" % (header[:148], sum(first) + _REST_SUM, header[155:])
