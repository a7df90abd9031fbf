"""What somebody may be told of a job: all, an outline, or nothing. Rights are those of the moment."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

import sqlalchemy as sa

from footplate.domain.alerts import OF_PLATFORM, Notice
from footplate.domain.messages import say
from footplate.services.access import Caller, is_shared, may_read, may_see
from footplate.services.platform import Platform
from footplate.store import account_queries, job_queries


class Extent(Enum):
    """How much of a job may be told."""

    ALL = "all"
    OUTLINE = "outline"
    NOTHING = "nothing"


async def person(platform: Platform, name: str) -> Caller | None:
    """Somebody with the rights that they have now; None for one who is gone or disabled."""

    def query(connection: sa.Connection) -> Caller | None:
        user = account_queries.user(connection, name)
        if user is None or not user.is_enabled:
            return None
        return Caller(user.name, user.is_admin, account_queries.roles_of(connection, name))

    return await platform.store.read(query)


async def extent_of(platform: Platform, scope: str, notice: Notice, is_named_by_job: bool = False) -> Extent:
    """How much of a notice may go to a scope: to a person, or to all people of a queue.

    A job that names a channel of its queue itself tells the queue what it wants to.
    """
    kind, _, name = scope.partition(":")
    if kind == "queue":
        if notice.queue != name:
            return Extent.NOTHING
        return Extent.ALL if is_named_by_job or await _is_shared(platform, notice) else Extent.OUTLINE
    caller = await person(platform, name)
    if caller is None:
        return Extent.NOTHING
    if notice.on in OF_PLATFORM:
        return Extent.ALL if caller.is_admin else Extent.NOTHING
    if not notice.job_id:
        return Extent.ALL
    if not may_see(caller, notice.owner, notice.queue):
        return Extent.NOTHING
    shared = await _shared(platform, notice.job_id)
    readable = may_read(caller, platform.cluster.queues, notice.owner, notice.queue, shared)
    return Extent.ALL if readable else Extent.OUTLINE


async def _is_shared(platform: Platform, notice: Notice) -> bool:
    return is_shared(platform.cluster.queues, notice.queue, await _shared(platform, notice.job_id))


async def _shared(platform: Platform, job_id: str) -> bool | None:
    known = platform.store.board.get(job_id)
    if known is not None:
        return known.spec.shared
    found = await platform.store.read(lambda connection: job_queries.shares_of(connection, {job_id}))
    return found.get(job_id)


def outlined(notice: Notice) -> Notice:
    """A notice without what only those may know who may look into the job."""
    said = say("details_private", owner=notice.owner, queue=notice.queue)
    return replace(notice, said=said, is_full=False)
