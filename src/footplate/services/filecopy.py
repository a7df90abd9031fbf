"""Copies files that others may change meanwhile: no link is followed, holes stay holes, digests are taken."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

READ_BYTES = 1 << 20
# Beyond it, paths are no longer for people: somebody has nested folders to be a nuisance.
MOST_LEVELS = 64
MOST_PATH_BYTES = 2000
_ZEROS = bytes(READ_BYTES)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

# Says whether something is copied: by its path, whether it is a folder, and the names beside it.
Chooses = Callable[[tuple[str, ...], bool, frozenset[str]], bool]


@dataclass(frozen=True, slots=True)
class Copied:
    """One thing of a copy: a file with its digest, a folder, a link with its target, or what was left out."""

    kind: str
    path: str
    size_bytes: int = 0
    sha256: str = ""
    mode: int = 0
    uid: int = 0
    gid: int = 0
    target: str = ""


def copy_within(root: Path, name: str, into: Path, called: str) -> Iterator[Copied]:
    """Copy one file below a folder, if it is there, with the folders on its way."""
    with suppress(FileNotFoundError):
        descriptor = os.open(root / name, _FILE & ~os.O_NOFOLLOW)
        try:
            (into / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            yield _copy_file(descriptor, into / name, f"{called}/{name}")
        finally:
            os.close(descriptor)


def copy_tree(root: Path, name: str, into: Path, called: str, chooses: Chooses) -> Iterator[Copied]:
    """Copy a folder and what is chosen of all below it; a folder is yielded before its contents."""
    with suppress(FileNotFoundError):
        descriptor = os.open(root / name, _FOLDER)
        try:
            yield from _copy_folder(descriptor, (name,), into, called, chooses)
        finally:
            os.close(descriptor)


def _copy_folder(
    folder: int, path: tuple[str, ...], into: Path, called: str, chooses: Chooses
) -> Iterator[Copied]:
    inner = "/".join(path)
    (into / inner).mkdir(mode=0o700, exist_ok=True)
    yield _described("folder", f"{called}/{inner}", os.fstat(folder))
    names = os.listdir(folder)
    beside = frozenset(names)
    for name in sorted(names):
        here = (*path, name)
        with suppress(FileNotFoundError):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not chooses(here, stat.S_ISDIR(found.st_mode), beside):
                continue
            if len(here) > MOST_LEVELS or len(os.fsencode("/".join(here))) > MOST_PATH_BYTES:
                yield Copied("left out", f"{called}/{'/'.join(here)}")
            else:
                yield from _copy_one(folder, here, found, into, called, chooses)


def _copy_one(
    folder: int, path: tuple[str, ...], found: os.stat_result, into: Path, called: str, chooses: Chooses
) -> Iterator[Copied]:
    name, inner = path[-1], "/".join(path)
    if stat.S_ISLNK(found.st_mode):
        target = os.readlink(name, dir_fd=folder)
        yield _described("link", f"{called}/{inner}", found, target=target)
        return
    is_folder = stat.S_ISDIR(found.st_mode)
    if not is_folder and not stat.S_ISREG(found.st_mode):
        yield Copied("left out", f"{called}/{inner}")
        return
    try:
        descriptor = os.open(name, _FOLDER if is_folder else _FILE, dir_fd=folder)
    except OSError:
        # Somebody has put something else in its place since it was looked at.
        yield Copied("left out", f"{called}/{inner}")
        return
    try:
        if is_folder:
            yield from _copy_folder(descriptor, path, into, called, chooses)
        elif stat.S_ISREG(os.fstat(descriptor).st_mode):
            yield _copy_file(descriptor, into / inner, f"{called}/{inner}")
    finally:
        os.close(descriptor)


def _copy_file(descriptor: int, to: Path, called: str) -> Copied:
    found = os.fstat(descriptor)
    digest = copy_bytes(descriptor, to, found.st_size)
    return _described("file", called, found, size_bytes=to.stat().st_size, sha256=digest)


def _described(kind: str, called: str, found: os.stat_result, **more: Any) -> Copied:
    mode = stat.S_IMODE(found.st_mode)
    return Copied(kind, called, mode=mode, uid=found.st_uid, gid=found.st_gid, **more)


def copy_bytes(source: int, to: Path, size_bytes: int) -> str:
    """Copy as much of an open file into a new one, for its owner alone; return the digest of what was copied.

    A file that became shorter meanwhile is copied as far as it goes.
    """
    hasher, at = hashlib.sha256(), 0
    out = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        while at < size_bytes:
            begin = min(_next_data(source, at), size_bytes)
            _hash_zeros(hasher, begin - at)
            at = begin
            data = os.pread(source, min(READ_BYTES, size_bytes - at), at)
            if not data:
                break
            hasher.update(data)
            _write_all(out, data, at)
            at += len(data)
        os.ftruncate(out, at)
    finally:
        os.close(out)
    return hasher.hexdigest()


def _next_data(source: int, at: int) -> int:
    try:
        return os.lseek(source, at, os.SEEK_DATA)
    except OSError:
        # Nothing but a hole up to the end, or a file system that does not tell.
        size = os.fstat(source).st_size
        return max(at, size) if _tells_holes(source) else at


def _tells_holes(source: int) -> bool:
    try:
        os.lseek(source, 0, os.SEEK_HOLE)
    except OSError:
        return False
    return True


def _hash_zeros(hasher: Any, n_bytes: int) -> None:
    while n_bytes > 0:
        hasher.update(_ZEROS[: min(n_bytes, READ_BYTES)])
        n_bytes -= READ_BYTES


def _write_all(out: int, data: bytes, at: int) -> None:
    view = memoryview(data)
    while view:
        n_written = os.pwrite(out, view, at)
        at, view = at + n_written, view[n_written:]
