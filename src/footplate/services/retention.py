"""Removes what is kept no longer: parts of jobs, uploads that nobody uses, the trash of models.

Everything is safe to begin again: files go first, then the row says so. Nothing of a job goes that lives,
lies in the trash, or has results to save or a model to register; models have files of their own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Collection
from dataclasses import dataclass, replace
from functools import partial

import sqlalchemy as sa

from footplate.domain.errors import FootplateError
from footplate.domain.job import Job
from footplate.domain.messages import Message, say
from footplate.domain.retention import PARTS, Sizes
from footplate.services.access import Caller, require_admin, require_files
from footplate.services.jobs import inspect
from footplate.services.platform import Platform
from footplate.store import job_queries, kept_queries, model_queries
from footplate.store.kept_queries import KeptFiles
from footplate.store.writer import Transaction

log = logging.getLogger(__name__)

FAULTS = (FootplateError, OSError)
MOST_AT_ONCE = 1000
MEASURE_EVERY_S = 30.0
SWEEP_EVERY_S = 600.0
# Contents of models that no version has: a registration under way claims its own.
LEFTOVERS_KEPT_S = 86400.0


@dataclass(frozen=True, slots=True)
class Swept:
    """How much of one kind went, or would go, and what could not be read or removed."""

    kind: str
    n: int = 0
    size_bytes: int = 0
    faults: tuple[Message, ...] = ()

    def with_fault(self, error: Exception, job_id: str | None = None) -> Swept:
        log.warning("%s of %s could not be swept", self.kind, job_id or "the server", exc_info=error)
        why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        told = say("not_swept", part=self.kind, of_job=job_id, error=why)
        return replace(self, faults=(*self.faults, told))


async def sweep(platform: Platform, caller: Caller, dry_run: bool = False) -> list[Swept]:
    """Remove at once what is kept no longer, for platform admins; a dry run only says what that would be."""
    require_admin(caller, "sweep")
    return await sweep_all(platform, dry_run)


async def sweep_all(platform: Platform, dry_run: bool = False) -> list[Swept]:
    """Sweep everything; what cannot be read or removed is told, and holds up nothing else."""
    while await measure_some(platform) == MOST_AT_ONCE:
        pass
    kinds: list[tuple[str, Awaitable[Swept]]] = [
        *((part, _sweep_part(platform, part, dry_run)) for part in PARTS),
        ("uploads", _sweep_uploads(platform, dry_run)),
        ("models", _sweep_models(platform, dry_run)),
        ("trash", _tell_trash(platform)),
    ]
    return [await _whatever_comes(kind, sweeping) for kind, sweeping in kinds]


async def _whatever_comes(kind: str, sweeping: Awaitable[Swept]) -> Swept:
    try:
        return await sweeping
    except FAULTS as error:
        return Swept(kind).with_fault(error)


# Parts of jobs


async def measure_some(platform: Platform) -> int:
    """Measure jobs that have ended, so many at once; return how many."""
    ids = await platform.store.read(lambda connection: kept_queries.unmeasured(connection, MOST_AT_ONCE))
    for job_id in ids:
        job = await platform.store.job(job_id)
        if job is not None and job.state.is_final and job.finished_at is not None:
            sizes = await _measured(platform, job_id)
            kept = KeptFiles(job_id, job.owner, job.spec.queue, job.finished_at, sizes)
            await platform.store.write(partial(_note, kept))
    return len(ids)


async def _measured(platform: Platform, job_id: str) -> Sizes:
    """Measure a job; one that cannot be read counts as nothing, and the sweep tells of it when it is due."""
    try:
        return await asyncio.to_thread(platform.files.sizes, job_id)
    except OSError as error:
        log.warning("what is kept of job %s cannot be measured: %s", job_id, error)
        return Sizes()


def _note(kept: KeptFiles, tx: Transaction) -> None:
    """Remember what is kept of a job that is still there, unless somebody has measured it meanwhile."""
    is_known = kept_queries.of_job(tx.connection, kept.job_id) is not None
    if not is_known and job_queries.is_there(tx.connection, kept.job_id):
        kept_queries.put(tx.connection, kept)


async def _sweep_part(platform: Platform, part: str, dry_run: bool) -> Swept:
    swept = Swept(part)
    for name, queue in list(platform.cluster.queues.items()):
        kept_s = platform.retention.with_queue(queue.retention).of(part)
        if kept_s is None:
            continue
        before = platform.clock.now() - kept_s
        swept = await _sweep_part_of_queue(platform, name, swept, before, dry_run)
    return swept


async def _sweep_part_of_queue(
    platform: Platform, queue: str, swept: Swept, before: float, dry_run: bool
) -> Swept:
    part, tried = swept.kind, set[str]()
    while True:
        query = partial(kept_queries.expired, queue=queue, part=part, before=before, most=_most(tried))
        found = [one for one in await platform.store.read(query) if one.job_id not in tried]
        for one in found:
            tried.add(one.job_id)
            if platform.files.is_held(one.job_id):
                continue
            try:
                freed = getattr(one.sizes, part) if dry_run else await _remove(platform, one, part)
            except FAULTS as error:
                swept = swept.with_fault(error, one.job_id)
            else:
                swept = replace(swept, n=swept.n + 1, size_bytes=swept.size_bytes + freed)
        if dry_run or len(found) < MOST_AT_ONCE:
            return swept


def _most(tried: Collection[str]) -> int:
    """Those that were tried and are still there come first again."""
    return MOST_AT_ONCE + len(tried)


async def _remove(platform: Platform, kept: KeptFiles, part: str) -> int:
    """Remove a part of a job: files first, so that a crash in between leaves it to be tried again."""
    await asyncio.to_thread(platform.files.remove_part, kept.job_id, part)
    # As it was measured, and as a dry run says it.
    freed: int = getattr(kept.sizes, part)
    job = await platform.store.job(kept.job_id)
    now = platform.clock.now()

    def unit(tx: Transaction) -> None:
        current = kept_queries.of_job(tx.connection, kept.job_id)
        if current is None:
            return
        after = replace(current, sizes=current.sizes.without([part]), gone=(*current.gone, part))
        kept_queries.put(tx.connection, after)
        if job is not None and freed:
            tx.record(job, "expired", now, say("files_expired", part=part, freed_bytes=freed))

    await platform.store.write(unit)
    return freed


# Uploads and models


async def _sweep_uploads(platform: Platform, dry_run: bool) -> Swept:
    """Remove code that no job and no model has, and that nobody has sent or asked for lately."""
    kept_s = platform.retention.uploads_s
    since = platform.clock.now() - kept_s

    def used(connection: sa.Connection) -> set[str]:
        of_jobs = kept_queries.codes_of_jobs(connection)
        of_models = model_queries.codes_in_use(connection)
        return of_jobs | of_models | kept_queries.uploads_since(connection, since)

    unused = await asyncio.to_thread(platform.blobs.unused, await platform.store.read(used), kept_s)
    if dry_run:
        return Swept("uploads", len(unused), sum(unused.values()))
    n, freed = 0, 0
    for digest in unused:
        # In the writer, where no submit runs at the same time: what names it by now is seen.
        size = await platform.store.write(partial(_remove_upload, platform, digest))
        n, freed = n + (size > 0), freed + size
    return Swept("uploads", n, freed)


def _remove_upload(platform: Platform, digest: str, tx: Transaction) -> int:
    if job_queries.has_code(tx.connection, digest):
        return 0
    size = platform.blobs.remove(digest)
    if size:
        kept_queries.forget_uploads(tx.connection, [digest])
    return size


async def _sweep_models(platform: Platform, dry_run: bool) -> Swept:
    """Empty the trash of models, forget old uploads for models, and remove contents that nobody has."""
    now = platform.clock.now()

    def unit(tx: Transaction) -> None:
        whole, single = model_queries.in_trash_since(tx.connection, now - platform.tuned.trash_kept_s)
        for model_id in whole:
            model_queries.remove_model(tx.connection, model_id)
        for model_id, number in single:
            model_queries.remove_version(tx.connection, model_id, number)
        model_queries.forget_uploads_before(tx.connection, now - platform.retention.uploads_s)

    if not dry_run:
        await platform.store.write(unit)
    in_use = await platform.store.read(model_queries.contents_in_use)
    freed = await platform.models.run(
        partial(platform.models.sweep, LEFTOVERS_KEPT_S, lambda: in_use, dry_run)
    )
    return Swept("models", freed.n_files, freed.size_bytes)


async def _tell_trash(platform: Platform) -> Swept:
    """Say what is in the trash of jobs and due to go; the loop of control empties it."""
    before = platform.clock.now() - platform.tuned.trash_kept_s
    ids = await platform.store.read(lambda connection: job_queries.in_trash_since(connection, before))
    swept = Swept("trash")
    for job_id in ids:
        try:
            size = await asyncio.to_thread(platform.files.size_bytes, job_id)
        except OSError as error:
            swept, size = swept.with_fault(error, job_id), 0
        swept = replace(swept, n=swept.n + 1, size_bytes=swept.size_bytes + size)
    return swept


# Sizes


@dataclass(frozen=True, slots=True)
class Owned:
    """What is kept for one person: of jobs that are over, of jobs that live, and models."""

    user: str
    n_jobs: int
    sizes: Sizes
    models_bytes: int


async def sizes_of_job(
    platform: Platform, caller: Caller, id_or_name: str
) -> tuple[Job, Sizes, tuple[str, ...]]:
    """How much of the disk a job takes, measured now, and which parts of it were removed."""
    job = await inspect(platform, caller, id_or_name)
    require_files(caller, job)
    known = await platform.store.read(lambda connection: kept_queries.of_job(connection, job.id))
    sizes = await asyncio.to_thread(platform.files.sizes, job.id)
    return job, sizes, known.gone if known else ()


async def sizes_by_user(platform: Platform, caller: Caller) -> list[Owned]:
    """What is kept for each person, for platform admins; for oneself for all others."""
    owner = "" if caller.is_admin else caller.name
    over = await platform.store.read(lambda connection: kept_queries.by_owner(connection, owner))
    models = await platform.store.read(model_queries.sizes_by_owner)
    living: dict[str, tuple[int, Sizes]] = {}
    for job in list(platform.store.board.values()):
        if owner in ("", job.owner):
            n, sizes = living.get(job.owner, (0, Sizes()))
            living[job.owner] = n + 1, sizes + await asyncio.to_thread(platform.files.sizes, job.id)
    names = {*over, *living, *(name for name in models if owner in ("", name))} or {caller.name}
    found = [_owned(name, over, living, models.get(name, 0)) for name in names]
    return sorted(found, key=lambda one: (-one.sizes.total - one.models_bytes, one.user))


def _owned(
    name: str, over: dict[str, tuple[int, Sizes]], living: dict[str, tuple[int, Sizes]], models_bytes: int
) -> Owned:
    (n, sizes), (more, others) = over.get(name, (0, Sizes())), living.get(name, (0, Sizes()))
    return Owned(name, n + more, sizes + others, models_bytes)
