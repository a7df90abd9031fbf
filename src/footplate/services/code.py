"""Uploaded code, by its digest: for who has sent it, and for who may fetch the files of a job that has it."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from footplate.domain.errors import InvalidInput, NotFound
from footplate.domain.spec import JobSpec
from footplate.services.access import Caller, reach_of
from footplate.services.platform import Platform
from footplate.store import upload_queries


async def note(platform: Platform, caller: Caller, digest: str) -> None:
    """Remember that the caller has this code."""
    now = platform.clock.now()
    await platform.store.write(lambda tx: upload_queries.note(tx.connection, digest, caller.name, now))


async def may_use(platform: Platform, caller: Caller, digest: str) -> bool:
    """Tell whether there is such code, and the caller may have it."""
    if platform.blobs.path(digest) is None:
        return False
    reach = reach_of(caller, platform.cluster.queues, least="member")

    def query(connection: sa.Connection) -> bool:
        return upload_queries.has(connection, digest, caller.name) or upload_queries.is_in_a_job(
            connection, digest, reach
        )

    return await platform.store.read(query)


async def locate(platform: Platform, caller: Caller, digest: str) -> Path:
    """Find code to fetch it: what the caller may use, or for a job the code that it runs, and no other."""
    if caller.job_id is not None:
        job = platform.store.board.get(caller.job_id)
        is_theirs = job is not None and job.spec.code is not None and job.spec.code.upload == digest
    else:
        is_theirs = await may_use(platform, caller, digest)
    path = platform.blobs.path(digest) if is_theirs else None
    if path is None:
        raise NotFound("upload_unknown", upload=digest[:19])
    return path


async def check(platform: Platform, caller: Caller, spec: JobSpec) -> None:
    """Raise `InvalidInput` when a job names code that is not there for the caller.

    What others have looks like what nobody has: a digest that somebody has seen gives nothing away.
    """
    if spec.code is None or not spec.code.upload:
        return
    if not await may_use(platform, caller, spec.code.upload):
        raise InvalidInput("upload_unknown", "code.upload", upload=spec.code.upload[:19])
