"""Uploaded code, by its digest: for who has sent it, and for who may fetch the files of a job that has it."""

from __future__ import annotations

from collections.abc import AsyncIterable
from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa

from footplate.domain.errors import InvalidInput, NotFound
from footplate.domain.spec import JobSpec, Revision
from footplate.services.access import Caller, reach_of
from footplate.services.gitcode import chunks_of
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


async def patch(
    platform: Platform, caller: Caller, base: str, chunks: AsyncIterable[bytes]
) -> tuple[str, int]:
    """Keep what code that the caller may use becomes with what has changed since."""
    digest, size_bytes = await platform.blobs.patch(await locate(platform, caller, base), chunks)
    await note(platform, caller, digest)
    return digest, size_bytes


async def settle(platform: Platform, caller: Caller, spec: JobSpec) -> JobSpec:
    """Fetch the code that a job names by a repository; what it had is kept as if it had been sent."""
    code = spec.code
    if code is None or not code.git or code.upload:
        return spec
    async with platform.repositories.fetch(code.git, code.commit) as fetched:
        digest, _ = await platform.blobs.save(chunks_of(fetched.archive))
    await note(platform, caller, digest)
    branch = "" if fetched.commit.startswith(code.commit) else code.commit
    revision = Revision(fetched.commit, branch)
    return replace(spec, code=replace(code, upload=digest, revision=revision))


async def check(platform: Platform, caller: Caller, spec: JobSpec) -> None:
    """Raise `InvalidInput` when a job names code that is not there for the caller.

    What others have looks like what nobody has: a digest that somebody has seen gives nothing away.
    """
    if spec.code is None:
        return
    if spec.code.git and not spec.code.upload:
        platform.repositories.check(spec.code.git)
    if not spec.code.upload:
        return
    if not await may_use(platform, caller, spec.code.upload):
        raise InvalidInput("upload_unknown", "code.upload", upload=spec.code.upload[:19])
