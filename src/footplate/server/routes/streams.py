"""Events and logs over one connection: a browser has few of them, and many tabs."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from fastapi.responses import Response

from footplate.domain.errors import FootplateError, InvalidInput
from footplate.server import stream as sse
from footplate.server.auth import Signed, Wired, caller_of
from footplate.server.errors import our_body, refusal_of
from footplate.server.following import LogWish, follow_log
from footplate.server.followingmetrics import watch_points
from footplate.server.merging import merge
from footplate.server.parts import Parts
from footplate.server.routes.events import follow_events, last_seq
from footplate.services.access import Caller
from footplate.services.logparts import Since
from footplate.wire.streams import Followed, FollowedLog, FollowedMetrics

router = APIRouter(prefix="/stream", tags=["events"])


@router.post("", response_class=Response)
async def follow(request: Request, parts: Wired, caller: Signed, wanted: Followed) -> Response:
    """Events as they happen, and logs: each message of a log has its `key` beside its `data`.

    The first message, `begin`, has as its id the number from which events come. A log that may not be read,
    or no longer, brings `refused` with the body of an error, and the rest goes on. `metrics` says that a job
    has told new points, which are there to be asked for, and first, with none, that this is listened for.
    """
    keys = [*(one.key for one in wanted.logs), *(one.key for one in wanted.metrics)]
    if len(set(keys)) < len(keys):
        raise InvalidInput("log_key_twice", "logs")
    after = await last_seq(parts) if wanted.after is None else wanted.after
    events = _begun(follow_events(request, parts, caller, None, after), after)
    logs = [_log(request, parts, caller, one) for one in wanted.logs]
    metrics = [_metrics(request, parts, caller, one) for one in wanted.metrics]
    return sse.stream(merge(events, [*logs, *metrics]))


async def _begun(events: AsyncIterator[bytes], after: int) -> AsyncIterator[bytes]:
    yield sse.message("begin", {"after": after}, str(after))
    async for event in events:
        yield event


async def _log(request: Request, parts: Parts, caller: Caller, wanted: FollowedLog) -> AsyncIterator[bytes]:
    """The messages of one log; the pings of the events say for all that the connection is alive."""
    try:
        since = Since(wanted.offset, wanted.tail)
        wish = LogWish(wanted.job, wanted.tasks, wanted.attempt, since, wanted.cursor)
        is_whole = False
        async for sent in await follow_log(request, parts, caller, wish):
            is_whole = is_whole or sent.kind == "end"
            if sent.kind != "ping":
                yield sse.message(sent.kind, {"key": wanted.key, "data": sent.data}, sent.cursor)
        if not is_whole:
            # Asked once more, with the rights of now, it says why.
            await follow_log(request, parts, await caller_of(request), wish)
    except FootplateError as error:
        yield _refused(request, wanted.key, error)


async def _metrics(
    request: Request, parts: Parts, caller: Caller, wanted: FollowedMetrics
) -> AsyncIterator[bytes]:
    """A word whenever a job has told new points."""
    try:
        async for n_points in await watch_points(request, parts, caller, wanted.job):
            yield sse.message("metrics", {"key": wanted.key, "data": {"n_points": n_points}})
    except FootplateError as error:
        yield _refused(request, wanted.key, error)


def _refused(request: Request, key: str, error: FootplateError) -> bytes:
    refusal = refusal_of(request, error)
    refused = {"status": refusal.status, "error": our_body(refusal)}
    return sse.message("refused", {"key": key, "data": refused})
