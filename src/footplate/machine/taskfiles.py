"""Opens files that tasks can change, safe against symbolic links and files that block (FIFOs).

A task may put anything in the place of its own records: links to files that are hidden from it, pipes at
which an open waits for ever, devices. Nothing here follows a link below the job's folder, and only plain
files are opened.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

# The file itself, and the folders around it that tasks can change: those of attempt, task and run.
LEVELS = 4
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
# What the kernel says of links, of pipes and sockets without anybody at the other end, of folders.
_NOT_PLAIN = (errno.ELOOP, errno.ENXIO, errno.ENOTDIR, errno.EISDIR, errno.ENODEV)


class Spoilt(OSError):
    """Something else than a plain file is in a record's place."""


def unfollowed(path: str, flags: int) -> int:
    """Open a plain file, as an `opener` of `open`; raise `Spoilt` for anything else in its place."""
    folder, name = os.path.split(path)
    try:
        folder_fd = open_folder(folder, LEVELS - 1)
    except NotADirectoryError as error:
        raise _spoilt(path) from error
    try:
        return unfollowed_in(folder_fd, name, flags)
    finally:
        os.close(folder_fd)


def unfollowed_in(folder_fd: int, name: str, flags: int) -> int:
    """Open a plain file of an open folder."""
    try:
        fd = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode=0o644, dir_fd=folder_fd)
    except OSError as error:
        raise _spoilt(name) if error.errno in _NOT_PLAIN else error from None
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise _spoilt(name)


def open_pipe(path: str, flags: int) -> int:
    """Open a named pipe of a task without waiting for its other end; raise `Spoilt` for anything else."""
    folder, name = os.path.split(path)
    folder_fd = open_folder(folder, LEVELS - 1)
    try:
        fd = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder_fd)
    finally:
        os.close(folder_fd)
    if stat.S_ISFIFO(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise _spoilt(path)


def _spoilt(path: str) -> Spoilt:
    return Spoilt(errno.EINVAL, f"{path} is not the plain file that it should be")


def open_folder(path: str, n_levels: int = LEVELS) -> int:
    """Open a folder of a task; no link is followed among the last names of its path."""
    names: list[str] = []
    while len(names) < n_levels and path not in ("", "/"):
        path, name = os.path.split(path)
        names.append(name)
    fd = os.open(path or ".", _FOLDER)
    for name in reversed(names):
        outer = fd
        try:
            fd = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=outer)
        finally:
            os.close(outer)
    return fd


def beneath(root: str, inner: str) -> str:
    """Find where a path below a folder leads; raise `PermissionError` when that is out of the folder."""
    real_root = os.path.realpath(root)
    real = os.path.realpath(f"{real_root}/{inner}")
    if real != real_root and not real.startswith(real_root.rstrip("/") + "/"):
        raise PermissionError(errno.EPERM, "it leads out of its storage")
    return real


def open_beneath(root: str, inner: str, follows: bool = True) -> int:
    """Open what lies below a folder as a mere place; links are followed inside it only, or not at all."""
    real_root = os.path.realpath(root)
    path = os.path.relpath(beneath(root, inner), real_root) if follows else inner
    fd = os.open(real_root, os.O_PATH | os.O_CLOEXEC)
    # Whoever can write there may put links on the way meanwhile, which this walk does not follow.
    for name in path.split("/") if path != "." else ():
        outer = fd
        try:
            fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=outer)
        finally:
            os.close(outer)
    if stat.S_ISLNK(os.fstat(fd).st_mode):
        os.close(fd)
        raise PermissionError(errno.EPERM, "a link is in its place")
    return fd


def check_folder(path: Path) -> None:
    """Raise `NotADirectoryError` when a folder of a job is none, or is reached through a link."""
    os.close(open_folder(str(path)))
