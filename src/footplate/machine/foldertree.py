"""Walks through and removes trees of folders that tasks have made, however deep, locked or oddly named.

Nothing here recurses, names a long path or holds more than a few descriptors: a tree may be deeper than
Python's stack, than the longest path of the kernel and than the files that a process may open.
"""

from __future__ import annotations

import array
import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

MOST_ROUNDS = 100
_PLACE = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
# ioctls of ext4, xfs and others: what an administrator's `chattr` sets.
_GET_FLAGS, _SET_FLAGS = 0x80086601, 0x40086602
_IMMUTABLE, _APPEND_ONLY = 0x10, 0x20


def walk(folder_fd: int, most_deep: int | None = None) -> Iterator[tuple[str, list[str], list[str], int]]:
    """Yield each folder with the names of its folders and files and a descriptor, as `os.fwalk` does.

    Names that the caller takes out of the folders are passed over, as is what cannot be read. What lies
    deeper than `most_deep` folders is left out.
    """
    place, waiting = ".", [["."]]
    came_from: list[tuple[int, int]] = []
    fd = os.open(".", _PLACE, dir_fd=folder_fd)
    try:
        while waiting:
            if not waiting[-1]:
                waiting.pop()
                if came_from:
                    fd, place = _climb(fd, came_from.pop()), place.rpartition("/")[0]
                continue
            name = waiting[-1].pop()
            inner = _enter(fd, name)
            if inner is None:
                continue
            if name != ".":
                came_from.append(_identity(fd))
                place = f"{place}/{name}"
            os.close(fd)
            fd = inner
            folders, files = _names(fd)
            yield place, folders, files, fd
            is_deepest = most_deep is not None and len(came_from) >= most_deep
            waiting.append([] if is_deepest else folders[::-1])
    finally:
        os.close(fd)


def _enter(fd: int, name: str) -> int | None:
    try:
        return os.open(name, _READ, dir_fd=fd)
    except OSError:
        return None


def _climb(fd: int, expected: tuple[int, int]) -> int:
    try:
        outer = os.open("..", _READ, dir_fd=fd)
    finally:
        os.close(fd)
    if _identity(outer) != expected:
        # Somebody moves folders while we walk: what lies outside is none of ours.
        os.close(outer)
        raise FileNotFoundError(errno.ENOENT, "a folder was moved away while it was walked through")
    return outer


def _identity(fd: int) -> tuple[int, int]:
    status = os.fstat(fd)
    return status.st_dev, status.st_ino


def _names(fd: int) -> tuple[list[str], list[str]]:
    folders: list[str] = []
    files: list[str] = []
    with os.scandir(fd) as entries:
        for entry in entries:
            (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
    return folders, files


def size_of(folder: Path) -> int:
    """How much of the disk the files below a folder take; 0 when it is not there."""
    try:
        fd = os.open(folder, _PLACE)
    except OSError:
        return 0
    total = 0
    try:
        for _, _, files, inner in walk(fd):
            for name in files:
                with suppress(OSError):
                    total += os.stat(name, dir_fd=inner, follow_symlinks=False).st_blocks * 512
    except FileNotFoundError:
        # It changes while it is measured; what was seen counts.
        return total
    finally:
        os.close(fd)
    return total


def remove_tree(folder: Path) -> int:
    """Remove a folder with all that is in it, and return how many bytes its files had.

    What is interrupted can be begun again.
    """
    try:
        outer = os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    return _Removal(outer).run(folder.name)


class _Removal:
    """Goes down to where no folder is left, and removes each on the way back up."""

    def __init__(self, outer: int) -> None:
        self._fd = outer
        self._device = 0
        self._n_bytes = 0
        # For each folder that we are in: its name, the folder around it, and how often it was looked through.
        self._within: list[tuple[str, tuple[int, int], int]] = []

    def run(self, name: str) -> int:
        try:
            self._remove(name)
        except FileNotFoundError:
            if self._within:
                raise
        finally:
            os.close(self._fd)
        return self._n_bytes

    def _remove(self, name: str) -> None:
        status = os.stat(name, dir_fd=self._fd, follow_symlinks=False)
        self._device = status.st_dev
        if not stat.S_ISDIR(status.st_mode):
            self._unlink(name)
            return
        self._descend(name)
        while self._within:
            inner = self._take_files()
            if inner is not None:
                self._descend(inner)
            else:
                self._ascend()

    def _descend(self, name: str) -> None:
        inner = _open_up(self._fd, name)
        if os.fstat(inner).st_dev != self._device:
            os.close(inner)
            raise OSError(errno.EBUSY, "something is mounted in it", name)
        self._within.append((name, _identity(self._fd), 0))
        os.close(self._fd)
        self._fd = inner

    def _ascend(self) -> None:
        name, outer, n_tries = self._within.pop()
        self._fd = _climb(self._fd, outer)
        try:
            _remove_one(os.rmdir, self._fd, name)
        except OSError as error:
            if error.errno != errno.ENOTEMPTY or n_tries >= MOST_ROUNDS:
                raise
            # Names that a folder gained or that the scan passed over while others went: look again.
            self._descend(name)
            self._within[-1] = (name, outer, n_tries + 1)

    def _take_files(self) -> str | None:
        """Remove the files of the folder that we are in, and name the first folder in it."""
        with os.scandir(self._fd) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    return entry.name
                self._unlink(entry.name)
        return None

    def _unlink(self, name: str) -> None:
        try:
            status = os.stat(name, dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return
        self._n_bytes += status.st_size if stat.S_ISREG(status.st_mode) else 0
        _remove_one(os.unlink, self._fd, name)


def _open_up(outer: int, name: str) -> int:
    """Open a folder, whatever its tasks have done to its rights, and let us change what is in it."""
    place = os.open(name, _PLACE, dir_fd=outer)
    try:
        if os.fstat(place).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            # Where that is not enough, what follows says so.
            with suppress(PermissionError):
                os.chmod(f"/proc/self/fd/{place}", 0o700)  # noqa: PTH101  # of a descriptor
    finally:
        os.close(place)
    fd = os.open(name, _READ, dir_fd=outer)
    _thaw(fd)
    return fd


class _Act(Protocol):
    def __call__(self, path: str, *, dir_fd: int) -> None: ...


def _remove_one(act: _Act, fd: int, name: str) -> None:
    """Remove one file or folder, even if it was made immutable."""
    try:
        act(name, dir_fd=fd)
    except FileNotFoundError:
        return
    except PermissionError:
        inner = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=fd)
        try:
            _thaw(inner)
        finally:
            os.close(inner)
        act(name, dir_fd=fd)


def _thaw(fd: int) -> None:
    """Take away the flags that keep a file from being changed, where we may and the file system has any."""
    flags = array.array("l", [0])
    try:
        fcntl.ioctl(fd, _GET_FLAGS, flags)
        if flags[0] & (_IMMUTABLE | _APPEND_ONLY):
            flags[0] &= ~(_IMMUTABLE | _APPEND_ONLY)
            fcntl.ioctl(fd, _SET_FLAGS, flags)
    except OSError:
        return
