"""Takes the files of a model in: from a job's folders, from a storage, or from what was sent before.

What is taken in stays claimed until the version is stored, so that no sweep removes it in between.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import AsyncIterable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from footplate.domain.errors import Conflict, DiskFull, InvalidInput, NotFound, TooLarge
from footplate.domain.job import Job
from footplate.domain.jobfile import show_job
from footplate.domain.model import ModelFile, Origin
from footplate.domain.storage import Access
from footplate.machine.foldertree import walk
from footplate.machine.taskfiles import open_beneath
from footplate.services import uploads
from footplate.services.access import Caller
from footplate.services.fileaccess import open_for, told
from footplate.services.files import folder_of
from footplate.services.platform import Platform
from footplate.storages.base import EntryKind, Files, Part
from footplate.storages.paths import clean
from footplate.store import model_queries
from footplate.store.modelfiles import Content, ModelFiles

MOST_FILES = 10_000
MOST_DEEP = 100
CHUNK_BYTES = 1024**2

Room = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class FromJob:
    """Files of a job, running or over: a file or folder below its output, checkpoints or work folders."""

    job: str
    place: str = "output"
    path: str = ""


@dataclass(frozen=True, slots=True)
class FromStorage:
    storage: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class FromUpload:
    """Contents that the caller has sent before, by digest, under the paths that they shall have."""

    files: tuple[tuple[str, str], ...]


Source = FromJob | FromStorage | FromUpload


@dataclass(slots=True)
class Taken:
    """What was taken in, and whose claims must be released."""

    contents: ModelFiles
    files: list[ModelFile] = field(default_factory=list)
    origin: Origin = field(default_factory=Origin)
    job: Job | None = None

    def add(self, path: str, content: Content) -> None:
        self.files.append(ModelFile(path, content.sha256, content.size_bytes))
        if len(self.files) > MOST_FILES:
            raise TooLarge("model_too_many_files", "path", most=MOST_FILES)

    def release(self) -> None:
        self.contents.release(one.sha256 for one in self.files)


async def take_in(platform: Platform, caller: Caller, source: Source) -> Taken:
    """Copy what a source names into the contents of models; whoever called releases it."""
    platform.disk.require_room(caller.name)
    taken = Taken(platform.models)
    try:
        await _take(platform, caller, source, taken)
    except BaseException as error:
        await platform.models.run(taken.release)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull("disk_is_full") from error
        raise
    taken.files.sort(key=lambda one: one.path)
    return taken


async def _take(platform: Platform, caller: Caller, source: Source, taken: Taken) -> None:
    if isinstance(source, FromJob):
        await _from_job(platform, caller, source, taken)
    elif isinstance(source, FromStorage):
        await _from_storage(platform, caller, source, taken)
    else:
        await _from_upload(platform, caller, source, taken)
    if not taken.files:
        raise NotFound("model_without_files")


# From a job


async def _from_job(platform: Platform, caller: Caller, source: FromJob, taken: Taken) -> None:
    job, folder = await folder_of(platform, caller, source.job, source.place)
    inner = _checked(source.path)
    room = _room_for(platform, caller)
    try:
        with platform.files.held(job.id):
            await platform.models.run(lambda: _take_folder(taken, folder, inner, room))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        raise NotFound("no_such_file", job=job.id, path=inner, what=source.place) from None
    config = show_job(job.spec)
    taken.job = job
    taken.origin = Origin(
        "job",
        job.id,
        job.spec.name,
        source.place,
        inner,
        job.spec.code.upload if job.spec.code else "",
        tuple(config.get("data", ())),
        config.get("parameters", {}),
    )


def _checked(path: str, field_path: str = "path") -> str:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts or "\0" in path:
        raise InvalidInput("parent_folder", field_path)
    return "/".join(parts)


def _room_for(platform: Platform, caller: Caller) -> Room:
    return lambda n_bytes: platform.disk.require_room(caller.name, n_bytes)


def _take_folder(taken: Taken, folder: Path, inner: str, room: Room) -> None:
    """Take a file, or all plain files below a folder; links are not followed, and left out."""
    place = open_beneath(str(folder), inner or ".", follows=False)
    try:
        mode = os.fstat(place).st_mode
        if stat.S_ISREG(mode):
            fd = os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_CLOEXEC)
            _take_open(taken, inner.rpartition("/")[2], fd, room)
        elif stat.S_ISDIR(mode):
            for path, fd in _plain_files(place):
                _take_open(taken, path, fd, room)
        else:
            raise FileNotFoundError(inner)
    finally:
        os.close(place)


def _plain_files(folder_fd: int) -> Iterator[tuple[str, int]]:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    for place, folders, files, fd in walk(folder_fd, MOST_DEEP):
        folders.sort()
        for name in sorted(files):
            status = os.stat(name, dir_fd=fd, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                yield _shown(os.path.normpath(f"{place}/{name}")), os.open(name, flags, dir_fd=fd)


def _shown(path: str) -> str:
    if not path.isprintable() or len(path) > 1024:
        raise InvalidInput("model_path_odd", "path", path=ascii(path)[:200])
    return path


def _take_open(taken: Taken, path: str, fd: int, room: Room) -> None:
    """Copy one open file; one that somebody writes to meanwhile is refused rather than kept half."""
    with os.fdopen(fd, "rb") as file, taken.contents.intake() as intake:
        before = os.fstat(fd)
        room(before.st_size)
        while chunk := file.read(CHUNK_BYTES):
            intake.write(chunk)
        after = os.fstat(fd)
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise Conflict("model_file_changes", path=path)
        taken.add(path, intake.finish())


# From a storage


async def _from_storage(platform: Platform, caller: Caller, source: FromStorage, taken: Taken) -> None:
    opened = await open_for(platform, caller, source.storage, Access.READ)
    path, room = clean(source.path), _room_for(platform, caller)
    with told(source.storage, path):
        await opened.run_long(lambda files: _take_stored(taken, files, path, room))
    taken.origin = Origin("storage", place=source.storage, path=path)


def _take_stored(taken: Taken, files: Files, path: str, room: Room) -> None:
    entry = files.stat(path)
    if not entry.is_folder:
        _take_one(taken, files, path, entry.name, room)
        return
    for one in files.walk(path):
        if one.kind is EntryKind.FILE:
            _take_one(taken, files, one.path, one.path.removeprefix(path).lstrip("/"), room)


def _take_one(taken: Taken, files: Files, path: str, name: str, room: Room) -> None:
    source = files.open(path)
    try:
        with taken.contents.intake() as intake:
            size_bytes = source.entry.size_bytes
            room(size_bytes)
            while intake.size_bytes < size_bytes:
                chunk = source.read(intake.size_bytes, min(CHUNK_BYTES, size_bytes - intake.size_bytes))
                if not chunk:
                    raise Conflict("model_file_changes", path=path)
                intake.write(chunk)
            taken.add(_shown(name), intake.finish())
    finally:
        source.close()


# From what was sent


async def _from_upload(platform: Platform, caller: Caller, source: FromUpload, taken: Taken) -> None:
    seen: set[str] = set()
    for number, (given, sha256) in enumerate(source.files):
        path = _shown(_checked(given, f"files[{number}].path"))
        if not path or path in seen:
            raise InvalidInput("model_path_twice", f"files[{number}].path", path=given)
        seen.add(path)
        is_theirs = await may_use(platform, caller, sha256)
        content = await asyncio.to_thread(platform.models.claim, sha256) if is_theirs else None
        if content is None:
            raise InvalidInput("content_unknown", f"files[{number}].sha256", content=sha256[:12])
        taken.add(path, content)


async def may_use(platform: Platform, caller: Caller, sha256: str) -> bool:
    """Tell whether the caller has sent a content; what others have looks like what nobody has."""
    return await platform.store.read(lambda one: model_queries.has_upload(one, sha256, caller.name))


async def receive(
    platform: Platform, caller: Caller, sha256: str, stream: AsyncIterable[bytes], n_bytes: int
) -> Content:
    """Keep a content that somebody sends, for the registration that follows."""
    platform.disk.require_room(caller.name, n_bytes)
    with platform.models.intake() as intake:
        async for chunk in _gathered(stream):
            await platform.models.run(lambda data=chunk: intake.write(data))  # type: ignore[misc]
        if sha256 != intake.sha256:
            raise InvalidInput("wrong_digest", "sha256")
        content = await platform.models.run(intake.finish)
    await _note(platform, caller, sha256)
    return content


async def receive_upload(
    platform: Platform, caller: Caller, sha256: str, storage: str, upload_id: str
) -> Content:
    """Keep a content that has come in pieces to a storage, as an upload that is whole but has no name yet."""

    def take(part: Part) -> Content:
        with platform.models.intake() as intake:
            while chunk := part.read(intake.size_bytes, CHUNK_BYTES):
                intake.write(chunk)
            if sha256 != intake.sha256:
                raise InvalidInput("wrong_digest", "sha256")
            return intake.finish()

    platform.disk.require_room(caller.name)
    content = await uploads.hand_over(platform, caller, storage, upload_id, take)
    await _note(platform, caller, sha256)
    await uploads.cancel(platform, caller, storage, upload_id)
    return content


async def _note(platform: Platform, caller: Caller, sha256: str) -> None:
    """Note who may register a content that was sent."""
    now = platform.clock.now()
    try:
        await platform.store.write(
            lambda tx: model_queries.note_upload(tx.connection, sha256, caller.name, now)
        )
    finally:
        platform.models.release([sha256])


async def _gathered(stream: AsyncIterable[bytes]) -> AsyncIterable[bytes]:
    """Join what comes in small pieces: each costs a turn of a thread."""
    held = bytearray()
    async for chunk in stream:
        held += chunk
        if len(held) >= CHUNK_BYTES:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)
