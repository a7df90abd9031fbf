"""The storage volumes that a job mounts, and whether their sources exist."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from pathlib import Path

from footplate.control.storagewatch import StorageWatch
from footplate.domain.errors import EngineRejected, EngineUnavailable
from footplate.domain.job import Job
from footplate.domain.storage import OWN, Storage, Volume, overlap

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
            is_read_only = data.read_only or storages[data.storage].read_only
            yield Volume(data.storage, data.source, data.path, is_read_only)


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
            raise EngineRejected("storage_undeclared", storage=name)
        if not storages[name].is_open_to(job.spec.queue):
            raise EngineRejected("storage_not_for_queue", storage=name, queue=job.spec.queue)
        await _check(home, storages[name], inner, watch)


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
    if overlap(place.root, str(home.resolve())):
        raise EngineRejected("storage_leads_home", storage=storage.name)
