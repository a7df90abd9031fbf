"""Following the log of a job for as long as the caller may read it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from fastapi import Request

from footplate.domain.errors import InvalidInput
from footplate.server.parts import Parts
from footplate.server.standing import Standing
from footplate.services import jobs, logs
from footplate.services.access import Caller
from footplate.services.logcursor import Cursor
from footplate.services.logfollower import Follower, Sent
from footplate.services.logparts import Since


@dataclass(frozen=True, slots=True)
class LogWish:
    """Which logs of a job somebody wants to follow, and from where."""

    job: str
    tasks: Sequence[str]
    attempt: int | None
    since: Since
    cursor: str = ""


async def follow_log(request: Request, parts: Parts, caller: Caller, wish: LogWish) -> AsyncIterator[Sent]:
    """Check a wish, and return what it brings: it breaks off when the caller may no longer read the job."""
    job = await jobs.inspect(parts.platform, caller, wish.job)
    names = logs.task_names(job, wish.tasks)
    cursor = Cursor.read(wish.cursor) if wish.cursor else None
    if wish.since.offset is not None and len(names) != 1:
        raise InvalidInput("offset_without_task", "offset")
    follower = Follower(parts.platform, parts.feed, job, names)
    if wish.attempt is not None:
        logs.attempt_id_of(job, wish.attempt)
    standing = Standing(request, parts, caller, job.id, reads=True)

    async def brought() -> AsyncIterator[Sent]:
        async for sent in follower.follow(wish.attempt, wish.since, cursor):
            if await standing.refresh(is_due=sent.kind == "ping") is None:
                return
            yield sent

    return brought()
