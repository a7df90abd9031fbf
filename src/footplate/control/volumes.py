"""The storage volumes that a job mounts, and whether their sources exist."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from footplate.control.storagewatch import StorageWatch
from footplate.domain.errors import EngineRejected, EngineUnavailable
from footplate.domain.job import Job
from footplate.domain.storage import OWN, Access, Storage, StorageKind, Volume, fixed_part, overlap

Storages = Mapping[str, Storage]
# What a file system says of a path that cannot be used later either.
LASTING = (errno.EPERM, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG)


def volumes_of(storages: Storages, job: Job) -> tuple[Volume, ...]:
    """Name what a job's tasks find at paths of their own.

    A storage that is no longer declared is left out: `check_there` tells of it.
    """
    return tuple(_volumes(storages, job))


def _volumes(storages: Storages, job: Job) -> Iterator[Volume]:
    for data in job.spec.data:
        if data.storage == OWN:
            yield Volume(OWN, data.source, data.path, data.read_only)
        elif data.storage in storages:
            # As it is now, not as it was when the job was submitted.
            storage = storages[data.storage]
            is_staged = storage.is_staged(data.source)
            can_write = storage.access_of_job(job.owner, job.spec.queue) is Access.WRITE
            is_read_only = data.read_only or is_staged or not can_write
            yield Volume(data.storage, data.source, data.path, is_read_only, is_staged)


def storages_of(job: Job) -> list[tuple[str, str]]:
    """Name what a job wants of which storages, its own folders apart."""
    named = [(data.storage, data.source) for data in job.spec.data if data.storage not in ("", OWN)]
    if job.spec.code is not None and job.spec.code.storage:
        named.append((job.spec.code.storage, job.spec.code.path))
    return named


async def check_there(
    home: Path, storages: Storages, watch: StorageWatch, job: Job, owner_number: int = 0
) -> None:
    """Raise `EngineRejected` when what a job wants of its storages is not there, and never will be.

    Of a storage that does not answer nobody knows: `EngineUnavailable`.
    """
    for name, inner in storages_of(job):
        require_readable(storages, job, name)
        if storages[name].kind is not StorageKind.FOLDER:
            # Whoever brings the data will see.
            continue
        root = storages[name].path_for(job.owner, owner_number)
        if storages[name].is_own:
            # Nobody may have put anything there yet.
            await asyncio.to_thread(Path(root).mkdir, 0o700, parents=True, exist_ok=True)
        await _check(home, replace(storages[name], path=root), fixed_part(inner), watch)


def require_readable(storages: Storages, job: Job, name: str) -> None:
    """Raise `EngineRejected` when a job may not read a storage, as things are now."""
    if name not in storages:
        raise EngineRejected("storage_undeclared", storage=name)
    if storages[name].access_of_job(job.owner, job.spec.queue) is Access.NONE:
        raise EngineRejected("storage_not_for_queue", storage=name, queue=job.spec.queue)


async def _check(home: Path, storage: Storage, inner: str, watch: StorageWatch) -> None:
    try:
        place = await watch.locate(storage, inner)
    except (FileNotFoundError, NotADirectoryError):
        code = "storage_has_no" if inner else "storage_gone"
        raise EngineRejected(code, storage=storage.name, **({"inner": inner} if inner else {})) from None
    except OSError as error:
        kind = EngineRejected if error.errno in LASTING else EngineUnavailable
        raise kind("storage_unusable", storage=storage.name, inner=inner, error=error.strerror) from None
    # The settings were checked when they were read; it may not have answered then, or its links have changed.
    if not storage.is_own and overlap(place.root, str(home.resolve())):
        raise EngineRejected("storage_leads_home", storage=storage.name)
