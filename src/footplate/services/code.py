"""Uploaded code, by its digest: for who has sent it, and for who may fetch the files of a job that has it."""

from __future__ import annotations

import sqlalchemy as sa

from footplate.domain.errors import InvalidInput
from footplate.domain.spec import JobSpec
from footplate.services.access import RANKS, Caller
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
    queues = None if caller.is_admin else _member_of(caller)

    def query(connection: sa.Connection) -> bool:
        return upload_queries.has(connection, digest, caller.name) or upload_queries.is_in_a_job(
            connection, digest, caller.name, queues
        )

    return await platform.store.read(query)


async def check(platform: Platform, caller: Caller, spec: JobSpec) -> None:
    """Raise `InvalidInput` when a job names code that is not there for the caller.

    What others have looks like what nobody has: a digest that somebody has seen gives nothing away.
    """
    if spec.code is None or not spec.code.upload:
        return
    if not await may_use(platform, caller, spec.code.upload):
        raise InvalidInput("upload_unknown", "code.upload", upload=spec.code.upload[:19])


def _member_of(caller: Caller) -> list[str]:
    return [queue for queue in caller.roles if caller.rank_in(queue) >= RANKS["member"]]
