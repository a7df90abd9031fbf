"""Saves folders that tasks write to on a storage: what has changed, each file whole, and a list of all.

Files are opened by descriptors and links are not followed: tasks may put anything there meanwhile.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path

from footplate.domain.errors import InvalidInput
from footplate.machine.foldertree import walk
from footplate.machine.taskfiles import open_beneath, open_folder
from footplate.storages.base import CHUNK_BYTES, Adopts, Files
from footplate.storages.parts import fresh_id
from footplate.storages.paths import clean_file, join
from footplate.storages.workers import Stopped, do_all

MOST_DEEP = 1000
SMALL_BYTES = CHUNK_BYTES
N_THREADS = 4


@dataclass(frozen=True, slots=True)
class Saved:
    """One file as it was saved; `mark` changes when the local file does."""

    path: str
    size_bytes: int
    sha256: str
    modified_at: float
    mark: str


@dataclass(frozen=True, slots=True)
class Found:
    """A file to be saved: where it lies, and what it is called there."""

    folder: Path
    inner: str
    path: str
    size_bytes: int
    modified_at: float
    mark: str
    is_executable: bool


@dataclass(slots=True)
class Survey:
    """What is to be saved: what has changed, what has not, and how much cannot be."""

    new: list[Found] = field(default_factory=list)
    kept: list[Saved] = field(default_factory=list)
    # Of what is kept, the large files.
    copied: list[Found] = field(default_factory=list)
    n_left_out: int = 0

    @property
    def new_bytes(self) -> int:
        return sum(one.size_bytes for one in self.new)


def survey(folders: Mapping[str, Path], known: Mapping[str, Saved]) -> Survey:
    """Look through folders, each below a name of its own, for what is not saved yet."""
    result = Survey()
    for prefix, folder in folders.items():
        try:
            folder_fd = open_folder(str(folder))
        except FileNotFoundError:
            continue
        try:
            for inner, status in _files(folder_fd):
                _take(result, prefix, folder, inner, status, known)
        finally:
            os.close(folder_fd)
    return result


def _files(folder_fd: int) -> Iterator[tuple[str, os.stat_result]]:
    for place, folders, files, fd in walk(folder_fd, MOST_DEEP):
        folders.sort()
        for name in sorted(files):
            with suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=fd, follow_symlinks=False)
                yield os.path.normpath(f"{place}/{name}"), status


def _take(
    result: Survey,
    prefix: str,
    folder: Path,
    inner: str,
    status: os.stat_result,
    known: Mapping[str, Saved],
) -> None:
    try:
        path = clean_file(join(prefix, inner))
    except InvalidInput:
        path = ""
    if not path or not stat.S_ISREG(status.st_mode):
        result.n_left_out += 1
        return
    mark = f"{status.st_mtime_ns:x}-{status.st_size:x}-{status.st_ino:x}"
    is_executable = bool(status.st_mode & 0o100)
    found = Found(folder, inner, path, status.st_size, status.st_mtime, mark, is_executable)
    before = known.get(path)
    if before is None or before.mark != mark:
        result.new.append(found)
        return
    result.kept.append(before)
    if status.st_size >= SMALL_BYTES:
        result.copied.append(found)


def save_all(
    files: Files,
    target: str,
    new: Sequence[Found],
    is_stopped: threading.Event,
    tell: Callable[[Saved], None] = lambda _saved: None,
    *,
    are_final: bool = False,
) -> list[Saved]:
    """Save files below a folder of a storage, several at once; `tell` is called for each that is there.

    What has gone meanwhile is left out. Files that are final, as nobody is left to write to them, need not
    be copied where the storage can take them in as they are.
    """
    done: list[Saved] = []

    def save(found: Found) -> None:
        with suppress(FileNotFoundError):
            saved = _save(files, join(target, found.path), found, is_stopped, are_final)
            done.append(saved)
            tell(saved)

    do_all((lambda found=found: save(found) for found in new), N_THREADS, is_stopped)  # type: ignore[misc]  # bound at once
    return done


def adopt_all(files: Files, target: str, copied: Sequence[Found]) -> None:
    """Put final files in the place of their copies, where the storage can take them in as they are."""
    if not isinstance(files, Adopts):
        return
    for found in copied:
        with suppress(FileNotFoundError), os.fdopen(_open_plain(found), "rb", buffering=0) as file:
            files.adopt(file.fileno(), join(target, found.path), found.is_executable)


def _save(files: Files, path: str, found: Found, is_stopped: threading.Event, is_final: bool) -> Saved:
    with os.fdopen(_open_plain(found), "rb", buffering=0) as file:
        first = file.read(SMALL_BYTES) or b""
        if len(first) < SMALL_BYTES:
            with files.batch() as batch:
                batch.write(path, first, found.is_executable)
            size, digest = len(first), hashlib.sha256(first).hexdigest()
        elif is_final and isinstance(files, Adopts) and files.adopt(file.fileno(), path, found.is_executable):
            size, digest = os.fstat(file.fileno()).st_size, _digest(file, is_stopped)
        else:
            size, digest = _save_large(files, path, found, file, first, is_stopped)
    return Saved(found.path, size, digest, found.modified_at, found.mark)


def _digest(file: FileIO, is_stopped: threading.Event) -> str:
    digest = hashlib.sha256()
    file.seek(0)
    while piece := file.read(CHUNK_BYTES):
        if is_stopped.is_set():
            raise Stopped
        digest.update(piece)
    return digest.hexdigest()


def _save_large(
    files: Files, path: str, found: Found, file: FileIO, first: bytes, is_stopped: threading.Event
) -> tuple[int, str]:
    """Copy a file piece by piece, and give it its name when all of it is there."""
    part_id, digest = fresh_id(), hashlib.sha256()
    part = files.part(part_id, is_new=True)
    try:
        try:
            piece = first
            while piece:
                if is_stopped.is_set():
                    raise Stopped
                digest.update(piece)
                part.append(piece)
                piece = file.read(CHUNK_BYTES) or b""
        finally:
            part.close()
        files.place(part_id, path, replaces=True, is_executable=found.is_executable)
    except BaseException:
        with suppress(OSError):
            files.discard(part_id)
        raise
    return part.size_bytes, digest.hexdigest()


def _open_plain(found: Found) -> int:
    """Open a file, also where a link has come in its place or on the way: then it is gone."""
    place = open_beneath(str(found.folder), found.inner, follows=False)
    try:
        if not stat.S_ISREG(os.fstat(place).st_mode):
            raise FileNotFoundError(found.inner)
        return os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(place)
