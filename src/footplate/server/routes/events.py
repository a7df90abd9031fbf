"""The event log over REST, page by page and live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse, Response

from footplate.domain.errors import InvalidInput
from footplate.server import stream as sse
from footplate.server.auth import Signed, Wired
from footplate.server.parts import Parts
from footplate.server.standing import Standing
from footplate.services import events, jobs
from footplate.services.access import Caller
from footplate.services.feed import Inbox
from footplate.store import event_queries
from footplate.store.rows import EventRecord
from footplate.wire.body import Text
from footplate.wire.events import Events

router = APIRouter(tags=["events"])

After = Annotated[int, Query(ge=0, le=2**60, description="Only events with a higher number.")]
Limit = Annotated[int, Query(ge=1, le=1000)]
Kinds = Annotated[
    list[Annotated[Text, Query(max_length=64)]],
    Query(max_length=20, description="Only events of these kinds, such as step; of all when absent."),
]
PAGE = 1000


def _answer(found: list[EventRecord], after: int) -> Response:
    return JSONResponse(
        {"items": [event.view() for event in found], "next_after": found[-1].seq if found else after}
    )


@router.get("/events", response_model=Events)
async def page(parts: Wired, caller: Signed, after: After = 0, limit: Limit = 200) -> Response:
    """Events of all jobs that the caller may see, in commit order."""
    return _answer(await events.page(parts.platform, caller, after, limit), after)


@router.get("/jobs/{job_id}/events", response_model=Events)
async def of_job(
    parts: Wired,
    caller: Signed,
    job_id: str,
    after: After = 0,
    limit: Limit = 200,
    kind: Kinds = [],  # noqa: B006  # read only
) -> Response:
    """Events of one job; of a private one, only what its outline tells."""
    job = await jobs.find(parts.platform, caller, job_id)
    return _answer(await events.page(parts.platform, caller, after, limit, job.id, kind), after)


@router.get("/events/stream", response_class=Response)
async def follow(
    request: Request,
    parts: Wired,
    caller: Signed,
    job: Annotated[Text | None, Query(max_length=255, description="Only events of this job.")] = None,
    after: Annotated[
        int | None, Query(ge=0, le=2**60, description="From this number on; from now when absent.")
    ] = None,
    last_event_id: Annotated[str, Header(alias="Last-Event-ID", max_length=20)] = "",
) -> Response:
    """Events as they happen; a stream resumed with `Last-Event-ID` misses nothing."""
    job_id = None if job is None else (await jobs.find(parts.platform, caller, job)).id
    if last_event_id and (not last_event_id.isdecimal() or int(last_event_id) > 2**60):
        raise InvalidInput("not_event_number", "Last-Event-ID")
    begin = int(last_event_id) if last_event_id else after
    begin = await last_seq(parts) if begin is None else begin
    return sse.stream(follow_events(request, parts, caller, job_id, begin))


async def last_seq(parts: Parts) -> int:
    """The number of the newest event."""
    return await parts.platform.store.read(event_queries.last_seq)


def follow_events(
    request: Request, parts: Parts, caller: Caller, job_id: str | None, after: int
) -> AsyncIterator[bytes]:
    """The events after a number: of one job, or of all that the caller may see."""
    return _follow(parts, Standing(request, parts, caller, job_id), job_id, after)


async def _follow(parts: Parts, standing: Standing, job_id: str | None, seq: int) -> AsyncIterator[bytes]:
    wake = asyncio.Event()
    inbox = Inbox(wake.set)
    inbox.has_gap = True
    is_quiet = False
    with parts.feed.listening(job_id, inbox.put):
        yield sse.PING
        while (caller := await standing.refresh(is_due=is_quiet)) is not None:
            if is_quiet:
                yield sse.PING
            wake.clear()
            for event in await _news(parts, caller, inbox, seq, job_id):
                if event.seq > seq:
                    seq = event.seq
                    yield sse.message("event", event.view(), str(seq))
            is_quiet = not inbox.has_gap and not await sse.woken(wake)


async def _news(
    parts: Parts, caller: Caller, inbox: Inbox, seq: int, job_id: str | None
) -> list[EventRecord]:
    """Events since the last look that the caller may see, from the log where the inbox has a gap."""
    held = inbox.take()
    if not inbox.has_gap:
        return await events.visible(parts.platform, caller, held)
    inbox.has_gap = False
    found = await events.page(parts.platform, caller, seq, PAGE, job_id)
    inbox.has_gap = inbox.has_gap or len(found) == PAGE
    return found
