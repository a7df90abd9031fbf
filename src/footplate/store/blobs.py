"""Uploaded code: archives by their digest, checked before they are kept and confined when unpacked."""

from __future__ import annotations

import asyncio
import hashlib
import lzma
import os
import re
import struct
import tarfile
import threading
import time
import zipfile
import zlib
from collections.abc import AsyncIterable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path, PurePosixPath

from footplate.domain.errors import InvalidInput, TooLarge
from footplate.home.layout import blobs_folder
from footplate.store.codepatch import compose

MAX_ARCHIVE_BYTES = 200 * 1024**2
MAX_UNPACKED_BYTES = 2 * 1024**3
MAX_FILES = 100_000
MAX_HEADER_BYTES = 1024**2
_READ_BYTES = 1024**2
# Within so long a submit that names what it has just asked for has come, or will not.
ASKED_LATELY_S = 3600.0
_DAMAGE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error)
_PARTIAL = ".upload-"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


class Blobs:
    """Archives in a home, named by what they contain."""

    def __init__(self, home: Path) -> None:
        self._folder = blobs_folder(home)
        self._lock = threading.Lock()
        # When somebody has asked last for what; whoever asks may be about to name it in a job.
        self._asked: dict[str, float] = {}
        # A thread of its own: large archives must not keep launches and stops waiting.
        self._checker = ThreadPoolExecutor(1, thread_name_prefix="footplate-archive")

    def path(self, digest: str) -> Path | None:
        """Where an upload lies, or None when there is none."""
        match = _DIGEST.fullmatch(digest)
        if match is None:
            return None
        path = self._folder / match[1][:2] / match[1]
        with self._lock:
            is_here = path.is_file()
            if is_here:
                self._asked[digest] = time.monotonic()
        return path if is_here else None

    def unused(self, in_use: Collection[str], older_than_s: float) -> dict[str, int]:
        """What nobody uses, came long ago and nobody has asked for lately: sizes by digest."""
        before, found = time.time() - older_than_s, {}
        for path in self._folder.glob("??/*"):
            digest = f"sha256:{path.name}"
            with suppress(FileNotFoundError):
                status = path.stat()
                if digest not in in_use and status.st_mtime < before and not self._is_asked_for(digest):
                    found[digest] = status.st_size
        return found

    def _is_asked_for(self, digest: str) -> bool:
        asked_at = self._asked.get(digest)
        return asked_at is not None and time.monotonic() - asked_at < ASKED_LATELY_S

    def remove(self, digest: str) -> int:
        """Remove an upload, unless somebody asks for it just now; return how many bytes that gave back."""
        name = digest.removeprefix("sha256:")
        path = self._folder / name[:2] / name
        with self._lock, suppress(FileNotFoundError):
            if not self._is_asked_for(digest):
                size = path.stat().st_size
                path.unlink()
                self._asked.pop(digest, None)
                return size
        return 0

    async def patch(self, base: Path, chunks: AsyncIterable[bytes]) -> tuple[str, int]:
        """Keep what an archive becomes with what has changed since, which is an archive too."""
        self._folder.mkdir(parents=True, exist_ok=True)
        changes, whole = (self._folder / f"{_PARTIAL}{os.urandom(8).hex()}" for _ in range(2))
        try:
            await _receive(chunks, changes)
            return await asyncio.get_running_loop().run_in_executor(
                self._checker, self._compose, base, changes, whole
            )
        finally:
            changes.unlink(missing_ok=True)
            whole.unlink(missing_ok=True)

    def _compose(self, base: Path, changes: Path, whole: Path) -> tuple[str, int]:
        check_archive(changes)
        with whole.open("wb") as out:
            compose(base, changes, out, MAX_ARCHIVE_BYTES)
        check_archive(whole)
        with whole.open("rb") as made:
            digest = hashlib.file_digest(made, "sha256").hexdigest()
        size = whole.stat().st_size
        self._keep(whole, digest)
        return f"sha256:{digest}", size

    def _keep(self, partial: Path, digest: str) -> None:
        target = self._folder / digest[:2] / digest
        target.parent.mkdir(exist_ok=True)
        partial.replace(target)

    async def save(self, chunks: AsyncIterable[bytes], expected: str = "") -> tuple[str, int]:
        """Keep an archive; refuse it when it is too large, damaged, or would leave its folder."""
        self._folder.mkdir(parents=True, exist_ok=True)
        partial = self._folder / f"{_PARTIAL}{os.urandom(8).hex()}"
        try:
            digest, size = await _receive(chunks, partial)
            if expected and expected.removeprefix("sha256:") != digest:
                raise InvalidInput("wrong_digest", "code")
            await asyncio.get_running_loop().run_in_executor(self._checker, check_archive, partial)
            self._keep(partial, digest)
        finally:
            partial.unlink(missing_ok=True)
        return f"sha256:{digest}", size

    def sweep(self, older_than_s: float) -> int:
        """Remove what uploads left behind that a crash cut short; return how many files."""
        n_removed = 0
        for partial in self._folder.glob(f"{_PARTIAL}*"):
            # The age is on the clock of the machine, which also dated the file.
            try:
                if time.time() - partial.stat().st_mtime > older_than_s:
                    partial.unlink()
                    n_removed += 1
            except FileNotFoundError:
                continue  # its upload has just ended
        return n_removed


async def _receive(chunks: AsyncIterable[bytes], partial: Path) -> tuple[str, int]:
    """Write what comes into a file; return its digest and its size."""
    hasher, size = hashlib.sha256(), 0
    with partial.open("wb") as out:
        async for chunk in chunks:
            size += len(chunk)
            if size > MAX_ARCHIVE_BYTES:
                raise TooLarge("archive_too_large", "code", most_bytes=MAX_ARCHIVE_BYTES)
            hasher.update(chunk)
            out.write(chunk)
    return hasher.hexdigest(), size


def check_archive(path: Path) -> None:
    """Raise `InvalidInput` for anything but a harmless tar or zip archive."""
    try:
        if zipfile.is_zipfile(path):
            _check_zip(path)
        else:
            _check_tar(path)
    except (*_DAMAGE, NotImplementedError, EOFError, OSError, ValueError) as error:
        raise InvalidInput("not_archive", "code", error=str(error)) from error


class _Entry(tarfile.TarInfo):
    """A tar entry whose extended headers, which are read whole into memory, are bounded."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type not in (*tarfile.REGULAR_TYPES, tarfile.DIRTYPE) and self.size > MAX_HEADER_BYTES:
            raise TooLarge("archive_header_too_large", "code", most_bytes=MAX_HEADER_BYTES)
        entry: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]  # not in the stubs
        return entry


def _check_tar(path: Path) -> None:
    size = 0
    names: set[PurePosixPath] = set()
    links: set[PurePosixPath] = set()
    with tarfile.open(path, tarinfo=_Entry) as archive:
        for count, member in enumerate(archive, 1):
            size += member.size
            _check_bounds(count, size)
            _check_name(member.name)
            names.update(PurePosixPath(member.name).parents)
            if member.issym():
                _check_link(member.name, member.linkname)
                links.add(PurePosixPath(member.name))
            elif member.islnk():
                _check_name(member.linkname)
                names.update((PurePosixPath(member.linkname), *PurePosixPath(member.linkname).parents))
            elif not (member.isreg() or member.isdir()):
                raise InvalidInput("archive_odd_entry", "code", entry=member.name)
    for name in names & links:
        raise InvalidInput("archive_through_link", "code", entry=str(name))


def _check_zip(path: Path) -> None:
    size = 0
    with zipfile.ZipFile(path) as archive:
        for count, member in enumerate(archive.infolist(), 1):
            size += member.file_size
            _check_bounds(count, size)
            _check_name(member.filename)
            if member.flag_bits & 1:
                raise InvalidInput("archive_encrypted", "code", entry=member.filename)
            with archive.open(member) as content:
                while content.read(_READ_BYTES):
                    pass


def _check_bounds(count: int, size: int) -> None:
    if count > MAX_FILES:
        raise TooLarge("archive_too_many", "code", most=MAX_FILES)
    if size > MAX_UNPACKED_BYTES:
        raise TooLarge("archive_unpacks_too_large", "code", most_bytes=MAX_UNPACKED_BYTES)


def _check_name(name: str) -> None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\x00" in name or re.match(r"[A-Za-z]:", name):
        raise InvalidInput("archive_leads_out", "code", entry=str(name))


def _check_link(name: str, target: str) -> None:
    """Allow steps up only at the beginning: after a name they start from wherever that name may link to."""
    parts = PurePosixPath(target).parts
    n_up = next((i for i, part in enumerate(parts) if part != ".."), len(parts))
    depth = len(PurePosixPath(name).parent.parts)
    if PurePosixPath(target).is_absolute() or n_up > depth or ".." in parts[n_up:]:
        raise InvalidInput("archive_link_leads_out", "code", entry=str(name), target=str(target))
