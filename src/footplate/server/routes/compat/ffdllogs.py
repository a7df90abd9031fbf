"""Logs and metrics of FfDL and Prophecis over REST: as a stream, over a WebSocket, and page by page."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request, WebSocket
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.websockets import WebSocketDisconnect

from footplate.dialects.ffdl.views import job_id, model_id
from footplate.domain.errors import FootplateError, InvalidInput
from footplate.domain.job import Job
from footplate.domain.metrics import NO_STEP
from footplate.server.parts import Parts, parts_of
from footplate.server.routes.compat.ffdlshared import FfdlRoute, caller_of
from footplate.services import jobs
from footplate.services.access import Caller
from footplate.store.logfiles import LogFile

router = APIRouter(route_class=FfdlRoute, include_in_schema=False)
LOOK_EVERY_S = 0.25
PIECE_BYTES = 64 * 1024
MOST_LINES = 10_000
MOST_READ_BYTES = 16 * 1024**2
PAGE = 10


async def _log(parts: Parts, caller: Caller, given: str) -> tuple[Job, LogFile]:
    """The job, and the log of its first learner, which speaks for all."""
    job = await jobs.inspect(parts.platform, caller, job_id(given))
    task = next((one for one in job.tasks if one.role != "ps"), job.tasks[0])
    mask = await parts.platform.mask_of(job)
    return job, parts.platform.logs.open(job.attempt_id, task.name, mask)


async def _pieces(parts: Parts, job: Job, log: LogFile, is_following: bool) -> AsyncIterator[bytes]:
    """What a log has, and with `is_following` what is added to it until the job is over."""
    offset = 0
    while True:
        now = await parts.platform.store.job(job.id)
        is_over = now is None or now.state.is_final
        while (
            piece := await asyncio.to_thread(log.read, offset, PIECE_BYTES, is_following and not is_over)
        ).data:
            offset = piece.next_offset
            yield piece.data
        if not is_following or is_over:
            return
        await asyncio.sleep(LOOK_EVERY_S)


async def _stream(request: Request) -> Response:
    parts, caller = parts_of(request), await caller_of(request)
    job, log = await _log(parts, caller, request.path_params["model"])
    is_following = request.query_params.get("follow", "false").lower() == "true"
    return StreamingResponse(_pieces(parts, job, log, is_following), media_type="text/plain; charset=utf-8")


async def _socket(websocket: WebSocket) -> None:
    """Send the log line by line until the job is over; the sub-protocol is taken as it is offered."""
    parts = parts_of(websocket)
    try:
        caller = await caller_of(websocket)
        job, log = await _log(parts, caller, websocket.path_params["model"])
    except FootplateError as error:
        await websocket.close(1008, str(error.said)[:100])
        return
    offered = websocket.scope.get("subprotocols") or []
    await websocket.accept(offered[0] if offered else None)
    rest = b""
    try:
        async for piece in _pieces(parts, job, log, is_following=True):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                await websocket.send_text(line.decode(errors="replace") + "\n")
        if rest:
            await websocket.send_text(rest.decode(errors="replace"))
        await websocket.close(1000)
    except (WebSocketDisconnect, RuntimeError):
        return


async def _loglines(request: Request) -> Response:
    parts, caller = parts_of(request), await caller_of(request)
    job, log = await _log(parts, caller, request.path_params["model"])
    lines = await asyncio.to_thread(_timed_lines, log, job)
    records = [{"meta": _meta(job, at, number), "line": line} for number, (at, line) in enumerate(lines, 1)]
    return JSONResponse({"models": _page(request, records)})


async def _lines_from(request: Request) -> Response:
    """So many lines of a log, from one on; whoever has the last of a model that is over is told so."""
    parts, caller = parts_of(request), await caller_of(request)
    job, log = await _log(parts, caller, request.path_params["model"])
    begin = max(0, _whole(request.query_params.get("from"), "from"))
    size = _whole(request.query_params.get("size"), "size") or PAGE
    lines = [line for _, line in await asyncio.to_thread(_timed_lines, log, job)]
    end = begin + max(0, size)
    is_last = job.state.is_final and end >= len(lines)
    return JSONResponse({"logs": lines[begin:end], "is_last_line": str(is_last).lower()})


def _timed_lines(log: LogFile, job: Job) -> list[tuple[int, str]]:
    """Each line with when it was seen, in milliseconds, each later than the one before."""
    begin = max(0, log.size - MOST_READ_BYTES)
    data = log.read(begin, MOST_READ_BYTES).data
    samples = log.samples()
    found: list[tuple[int, str]] = []
    last, end = 0, begin
    for line in data.splitlines(keepends=True)[-MOST_LINES:]:
        end += len(line)
        place = bisect_left(samples.sizes, end)
        seen = samples.ats[place] if place < len(samples.ats) else (job.finished_at or job.submitted_at)
        last = max(last + 1, int(seen * 1000))
        found.append((last, line.decode(errors="replace").rstrip("\r\n")))
    return found


def _meta(job: Job, at: int, number: int) -> dict[str, Any]:
    return {"training_id": model_id(job.id), "user_id": job.owner, "time": at, "rindex": number}


def _page(request: Request, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    query = request.query_params
    size = _whole(query.get("pagesize"), "pagesize") or PAGE
    pos = _whole(query.get("pos"), "pos")
    since = _since(query.get("since_time", ""))
    if since is not None:
        return [one for one in records if one["meta"]["time"] >= since][:size]
    begin = max(0, len(records) + pos) if pos < 0 else max(0, pos - 1)
    return records[begin : begin + max(0, size)]


def _whole(text: str | None, field: str) -> int:
    if not text:
        return 0
    try:
        return int(text[:12])
    except ValueError:
        raise InvalidInput("not_whole_number", field, given="text") from None


def _since(text: str) -> int | None:
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return int(text[:18])
    try:
        return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise InvalidInput("not_since", "since_time") from None


async def _emetrics(request: Request) -> Response:
    parts, caller = parts_of(request), await caller_of(request)
    job = await jobs.inspect(parts.platform, caller, job_id(request.path_params["model"]))
    told = await asyncio.to_thread(_metrics_of, parts, job)
    records = [{**one, "meta": _meta(job, at, number)} for number, (at, one) in enumerate(told, 1)]
    return JSONResponse({"models": _page(request, records)})


def _metrics_of(parts: Parts, job: Job) -> list[tuple[int, dict[str, Any]]]:
    """The points of all metrics, those of one step and group together."""
    metrics = parts.platform.metrics
    found: dict[tuple[str, int], tuple[float, dict[str, Any]]] = {}
    for attempt, task in metrics.tasks(job.id):
        if attempt != job.attempt:
            continue
        for name in metrics.figures(f"{job.id}.{attempt}", task):
            group, _, label = name.rpartition("/")
            columns = metrics.raw(f"{job.id}.{attempt}", task, name)
            for place in range(max(0, len(columns) - MOST_LINES), len(columns)):
                step = columns.step[place]
                key = (group or "train", step if step != NO_STEP else place)
                at, values = found.setdefault(key, (columns.at[place], {}))
                values[label] = {"type": "FLOAT", "value": repr(columns.value[place])}
    ordered = sorted(found.items(), key=lambda one: one[1][0])
    told, last = [], 0
    for (group, step), (at, values) in ordered:
        last = max(last + 1, int(at * 1000))
        etimes = {"iteration": {"type": "INT", "value": str(step)}}
        told.append((last, {"grouplabel": group, "etimes": etimes, "values": values}))
    return told


def _install() -> None:
    router.add_api_route("/di/v1/job/{model}/log", _lines_from, methods=["GET"])
    for root in ("/v1", "/di/v1"):
        router.add_api_route(f"{root}/models/{{model}}/logs", _stream, methods=["GET"])
        router.add_api_websocket_route(f"{root}/models/{{model}}/logs", _socket)
        router.add_api_route(f"{root}/logs/{{model}}/loglines", _loglines, methods=["GET"])
        router.add_api_route(f"{root}/logs/{{model}}/emetrics", _emetrics, methods=["GET"])


_install()
