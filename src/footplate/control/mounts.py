"""What a job's tasks find at paths of their own: its data, and code that they may only read."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from pathlib import Path

from footplate.control.storagewatch import StorageWatch
from footplate.domain import layout
from footplate.domain.errors import EngineRejected, EngineUnavailable
from footplate.domain.job import Job
from footplate.domain.storage import OWN, OWN_FOLDERS, Storage, overlap
from footplate.engines.base import Mount

Storages = Mapping[str, Storage]
# What a file system says of a path that cannot be used later either.
LASTING = (errno.EPERM, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG)


def mounts_of(home: Path, storages: Storages, job: Job) -> tuple[Mount, ...]:
    """Name the mounts of a job; a storage that is no longer declared is left out, `check_there` tells."""
    return (*_code(home, storages, job), *_data(home, storages, job))


def _code(home: Path, storages: Storages, job: Job) -> Iterator[Mount]:
    code = job.spec.code
    if code is None or not code.is_read_only:
        return
    target = layout.code_folder(home, job.id)
    if code.upload:
        yield Mount(target.parent, target, inner=target.name)
    elif code.storage in storages:
        yield Mount(storages[code.storage].path, target, inner=code.path)


def _data(home: Path, storages: Storages, job: Job) -> Iterator[Mount]:
    for data in job.spec.data:
        if data.storage == OWN:
            # Tasks can put links there: they are followed no further than the job's own folder.
            own, is_fixed = layout.job_folder(home, job.id), data.source in OWN_FOLDERS
            yield Mount(own, Path(data.path), data.read_only, data.source, is_fixed)
        elif data.storage in storages:
            storage = storages[data.storage]
            # As it is now, not as it was when the job was submitted.
            is_read_only = data.read_only or storage.read_only
            yield Mount(storage.path, Path(data.path), is_read_only, data.source, storage.read_only)


def storages_of(job: Job) -> list[tuple[str, str]]:
    """Name what a job wants of which storages, its own folders apart."""
    named = [(data.storage, data.source) for data in job.spec.data if data.storage not in ("", OWN)]
    if job.spec.code is not None and job.spec.code.storage:
        named.append((job.spec.code.storage, job.spec.code.path))
    return named


async def check_there(home: Path, storages: Storages, watch: StorageWatch, job: Job) -> None:
    """Raise `EngineRejected` when what a job wants of its storages is not there, and never will be.

    Of a storage that does not answer nobody knows: `EngineUnavailable`.
    """
    for name, inner in storages_of(job):
        if name not in storages:
            raise EngineRejected(f"storage {name} is no longer declared in the server's settings")
        if not storages[name].is_open_to(job.spec.queue):
            raise EngineRejected(f"storage {name} is no longer for jobs of queue {job.spec.queue}")
        await _check(home, storages[name], inner, watch)


async def _check(home: Path, storage: Storage, inner: str, watch: StorageWatch) -> None:
    try:
        place = await watch.locate(storage, inner)
    except (FileNotFoundError, NotADirectoryError):
        gone = f"the folder of storage {storage.name} is gone"
        raise EngineRejected(f"storage {storage.name} has no {inner}" if inner else gone) from None
    except OSError as error:
        kind = EngineRejected if error.errno in LASTING else EngineUnavailable
        raise kind(
            f"{inner or 'the folder'} of storage {storage.name} cannot be used: {error.strerror}"
        ) from None
    # The settings were checked when they were read; it may not have answered then, or its links have changed.
    if overlap(Path(place.root), home.resolve()):
        raise EngineRejected(f"storage {storage.name} leads to the files of the platform itself")
