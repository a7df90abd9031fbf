"""Logs over REST: parts, downloads, and a live stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response, StreamingResponse

from footplate.domain.errors import InvalidInput
from footplate.domain.job import Job
from footplate.domain.kinds import Duration, Instant
from footplate.domain.problems import MISSING, Problems
from footplate.server import stream as sse
from footplate.server.auth import Signed, Wired
from footplate.server.following import LogWish, follow_log
from footplate.server.ranges import send_log
from footplate.services import jobs, logs
from footplate.services.logparts import Since, text_of
from footplate.services.logparts import begin as begin_at
from footplate.services.mergedlog import merge
from footplate.store.logfiles import NO_MASK, LogFile, fold_progress
from footplate.store.logsearch import search as search_log
from footplate.store.logsearch import search_up
from footplate.wire.body import Text
from footplate.wire.jobs import LogMatches, LogTimes

router = APIRouter(prefix="/jobs/{job_id}/logs", tags=["logs"])

TaskName = Annotated[
    Text | None, Query(max_length=80, description="Such as worker-0; the first task when absent.")
]
AttemptNumber = Annotated[int | None, Query(ge=0, le=10**6, description="The current attempt when absent.")]
TailLines = Annotated[int | None, Query(ge=0, le=10**6, description="Only the last lines.")]
SinceTime = Annotated[
    Text | None, Query(max_length=64, description="Only from a time, or the last such as 10m.")
]
Offset = Annotated[int | None, Query(ge=0, le=2**60)]


def moment(text: str | None, now: float) -> float | None:
    if text is None:
        return None
    problems = Problems()
    span = Duration(0, 10 * 365 * 86400).read(text, "since", problems)
    if span is not MISSING:
        return now - float(span)
    at = Instant().read(text, "since", Problems())
    if at is MISSING:
        raise InvalidInput("not_since", "since")
    return float(at)


@router.get("", response_class=Response)
async def read(
    parts: Wired,
    caller: Signed,
    job_id: str,
    task: TaskName = None,
    attempt: AttemptNumber = None,
    tail: TailLines = None,
    since: SinceTime = None,
    offset: Offset = None,
    limit: Annotated[int, Query(ge=1, le=16 * 1024**2, description="Most bytes to answer with.")] = 1024**2,
    raw: Annotated[bool, Query(description="Leave redrawn progress bars as they were printed.")] = False,
) -> Response:
    """A part of one task's log as text; `X-Log-Next-Offset` says where to go on."""
    job = await jobs.inspect(parts.platform, caller, job_id)
    name = logs.task_name(job, task)
    log = logs.log_of(parts.platform, job, name, attempt, await parts.platform.mask_of(job))
    beginning = Since(offset, tail, moment(since, parts.platform.clock.now()))
    return await asyncio.to_thread(_part, job, name, attempt, log, beginning, limit, raw)


def _part(
    job: Job, name: str, attempt: int | None, log: LogFile, since: Since, limit: int, raw: bool
) -> Response:
    begin = begin_at(job, name, attempt, log, since)
    piece = log.read(begin, limit)
    text, next_offset = ("", piece.next_offset) if raw else text_of(piece)
    headers = {
        "X-Log-Size": str(log.size),
        "X-Log-Offset": str(begin),
        "X-Log-Next-Offset": str(next_offset),
    }
    data = piece.data if raw else fold_progress(text).encode()
    return Response(data, media_type="text/plain; charset=utf-8", headers=headers)


@router.get("/download", response_class=Response)
async def download(
    request: Request,
    parts: Wired,
    caller: Signed,
    job_id: str,
    task: TaskName = None,
    attempt: AttemptNumber = None,
) -> Response:
    """One task's whole log, byte for byte but for secrets; byte ranges are served."""
    job = await jobs.inspect(parts.platform, caller, job_id)
    name = logs.task_name(job, task)
    log = logs.log_of(parts.platform, job, name, attempt, await parts.platform.mask_of(job))
    number = job.attempt if attempt is None else attempt
    headers = {
        "Content-Disposition": f'attachment; filename="{job.spec.name}-{name}-attempt-{number + 1}.log"'
    }
    return send_log(request, log, headers)


@router.get(
    "/merged",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {}}, "description": "Lines of all tasks, each with its task."}
    },
)
async def download_all(parts: Wired, caller: Signed, job_id: str, attempt: AttemptNumber = None) -> Response:
    """The whole logs of all tasks in one file, by time; each line begins with its task's name."""
    job = await jobs.inspect(parts.platform, caller, job_id)
    mask = await parts.platform.mask_of(job)
    every = {task.name: logs.log_of(parts.platform, job, task.name, attempt, mask) for task in job.tasks}
    number = job.attempt if attempt is None else attempt
    headers = {"Content-Disposition": f'attachment; filename="{job.spec.name}-attempt-{number + 1}.log"'}
    return StreamingResponse(merge(every), media_type="text/plain; charset=utf-8", headers=headers)


@router.get("/search", response_model=LogMatches)
async def search(
    parts: Wired,
    caller: Signed,
    job_id: str,
    text: Annotated[Text, Query(min_length=1, max_length=255, description="In lower or upper case alike.")],
    task: TaskName = None,
    attempt: AttemptNumber = None,
    offset: Annotated[int, Query(ge=0, le=2**60, description="Where to begin.")] = 0,
    before: Annotated[
        int | None, Query(ge=0, le=2**60, description="Look upwards from there, the last line first.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=10_000, description="Most lines to answer with.")] = 1000,
) -> dict[str, Any]:
    """The lines of one task's log that hold a text; `next_offset` says where to go on."""
    job = await jobs.inspect(parts.platform, caller, job_id)
    mask = await parts.platform.mask_of(job)
    log = logs.log_of(parts.platform, job, logs.task_name(job, task), attempt, mask)
    if before is None:
        found = await asyncio.to_thread(search_log, log, text, offset, limit)
    else:
        found = await asyncio.to_thread(search_up, log, text, before, limit)
    return {"items": found.lines, "next_offset": found.next_offset}


@router.get("/times", response_model=LogTimes)
async def times(
    parts: Wired,
    caller: Signed,
    job_id: str,
    end: Annotated[int, Query(ge=1, le=2**60, description="Up to this offset.")],
    task: TaskName = None,
    attempt: AttemptNumber = None,
    offset: Annotated[int, Query(ge=0, le=2**60, description="From this offset on.")] = 0,
) -> dict[str, Any]:
    """When a part of one task's log was printed, to about a second; for a long part at most 1,000 times."""
    job = await jobs.inspect(parts.platform, caller, job_id)
    name = logs.task_name(job, task)
    log = logs.log_of(parts.platform, job, name, attempt, NO_MASK)
    return {"items": await asyncio.to_thread(logs.times_of, job, name, attempt, log, offset, end)}


@router.get("/stream", response_class=Response)
async def follow(
    request: Request,
    parts: Wired,
    caller: Signed,
    job_id: str,
    task: Annotated[list[Text], Query(max_length=1000, description="All tasks when absent.")] = [],  # noqa: B006
    attempt: AttemptNumber = None,
    tail: TailLines = None,
    since: SinceTime = None,
    offset: Annotated[
        int | None, Query(ge=0, le=2**60, description="Begin there; for one task only.")
    ] = None,
    last_event_id: Annotated[str, Header(alias="Last-Event-ID", max_length=262_144)] = "",
) -> Response:
    """Follow a job live: events `log`, `state`, `step`, and `end` when it is over and all was sent."""
    beginning = Since(offset, tail, moment(since, parts.platform.clock.now()))
    wish = LogWish(job_id, task, attempt, beginning, last_event_id)
    sent = await follow_log(request, parts, caller, wish)

    async def chunks() -> AsyncIterator[bytes]:
        async for one in sent:
            yield sse.PING if one.kind == "ping" else sse.message(one.kind, one.data, one.cursor)

    return sse.stream(chunks())
