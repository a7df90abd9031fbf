"""Following the points of a job for as long as the caller may read it."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator
from itertools import islice
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from footplate.domain.errors import InvalidInput
from footplate.domain.metrics import Point
from footplate.server import stream as sse
from footplate.server.parts import Parts
from footplate.server.standing import Standing
from footplate.services import jobs
from footplate.services.access import Caller
from footplate.services.metrics import HIDDEN
from footplate.store.metrics import NewPoints
from footplate.wire.convert import instant

# How many batches one message brings at most.
MOST_BATCHES = 100
# Not every point is worth a message of its own.
PAUSE_S = 0.2
Places = dict[str, int]


async def follow_points(request: Request, parts: Parts, caller: Caller, job_id: str, cursor: str) -> Response:
    """Check who asks for what, and return the stream."""
    job = await jobs.inspect(parts.platform, caller, job_id)
    return sse.stream(
        _follow(parts, Standing(request, parts, caller, job.id, reads=True), job.id, _read(cursor))
    )


def _read(cursor: str) -> Places:
    """Read where somebody was: of each attempt and task, how much of its file they have."""
    try:
        places = json.loads(cursor) if cursor else {}
        return {str(key): max(0, int(place)) for key, place in places.items()}
    except (ValueError, AttributeError, TypeError):
        raise InvalidInput("not_metric_cursor", "Last-Event-ID") from None


async def _follow(parts: Parts, standing: Standing, job_id: str, places: Places) -> AsyncIterator[bytes]:
    wake, platform = asyncio.Event(), parts.platform

    def hear(news: NewPoints) -> None:
        if news.job_id == job_id:
            wake.set()

    unsubscribe = platform.metrics.subscribe(hear)
    try:
        with parts.feed.listening(job_id, lambda _event: wake.set()):
            yield sse.message("begin", {"job": job_id})
            while await standing.refresh() is not None:
                wake.clear()
                job = await platform.store.job(job_id)
                has_more = False
                for task, attempt, points in await asyncio.to_thread(_news, parts, job_id, places):
                    has_more = True
                    data = {"task": task, "attempt": attempt, "points": points}
                    yield sse.message("points", data, json.dumps(places, separators=(",", ":")))
                if has_more:
                    continue
                if job is None or job.state.is_final:
                    state = None if job is None else job.state.value
                    yield sse.message("end", {"state": state}, json.dumps(places))
                    return
                if not await sse.woken(wake):
                    yield sse.PING
                else:
                    await asyncio.sleep(PAUSE_S)
    finally:
        unsubscribe()


async def watch_points(request: Request, parts: Parts, caller: Caller, job_id: str) -> AsyncIterator[int]:
    """Check who asks, and yield how many points have come, whenever some have: at most once a second.

    The first is 0, as soon as none is missed any more: whoever has asked for the points before asks again.
    """
    job = await jobs.inspect(parts.platform, caller, job_id)
    standing = Standing(request, parts, caller, job.id, reads=True)

    async def heard() -> AsyncIterator[int]:
        wake, n_points = asyncio.Event(), 0

        def hear(news: NewPoints) -> None:
            nonlocal n_points
            if news.job_id == job.id:
                n_points += news.batch.n_points
                wake.set()

        unsubscribe = parts.platform.metrics.subscribe(hear)
        try:
            yield 0
            while await standing.refresh() is not None:
                if await sse.woken(wake):
                    wake.clear()
                    yield n_points
                    await asyncio.sleep(1.0)
        finally:
            unsubscribe()

    return heard()


def _news(parts: Parts, job_id: str, places: Places) -> list[tuple[str, int, list[dict[str, Any]]]]:
    """Read what came since, and move the places on."""
    found = []
    metrics = parts.platform.metrics
    for attempt, task in metrics.tasks(job_id):
        key = f"{attempt}.{task}"
        points: list[Point] = []
        for record in islice(metrics.records(f"{job_id}.{attempt}", task, places.get(key, 0)), MOST_BATCHES):
            points.extend(
                columns.point(place, name)
                for name, columns in record.curves()
                if name not in HIDDEN
                for place in range(len(columns))
            )
            places[key] = record.end
        if points:
            points.sort(key=lambda point: point.at)
            found.append((task, attempt, [_view(point) for point in points]))
    return found


def _view(point: Point) -> dict[str, Any]:
    value: float | str = point.value if math.isfinite(point.value) else str(point.value)
    return {
        "at": instant(point.at),
        "name": point.name,
        "value": value,
        "step": point.step,
        "epoch": point.epoch,
    }
