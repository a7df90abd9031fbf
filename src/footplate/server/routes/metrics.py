"""Metrics of jobs over REST: points in, curves, newest values and tables out, and a live stream."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from footplate.domain.jobfile import show_job
from footplate.domain.metrics import Point
from footplate.server.auth import Signed, Wired
from footplate.server.followingmetrics import follow_points
from footplate.services import metrics
from footplate.services.metrics import Drawn, Wanted
from footplate.store.curves import Axis, Curve
from footplate.wire.body import Text
from footplate.wire.convert import instant
from footplate.wire.metrics import PUSH_SCHEMA, LatestValues, MetricsBody, Pushed

router = APIRouter(tags=["metrics"])

MOST_BODY_BYTES = 4 * 1024**2
MOST_JOBS = 100
Names = Annotated[
    list[Annotated[Text, Query(max_length=250)]],
    Query(max_length=200, description="Only these metrics; all when absent."),
]
_BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": PUSH_SCHEMA}}}}


@router.post("/jobs/{job_id}/metrics", response_model=Pushed, openapi_extra=_BODY)
async def push(request: Request, parts: Wired, caller: Signed, job_id: str) -> Response:
    """Keep points of metrics; a batch with a source and a number is kept once however often it comes."""
    told = await metrics.push(parts.platform, caller, job_id, await request.body())
    return JSONResponse({"n_points": told.n_points, "is_new": told.is_new})


@router.get("/jobs/{job_id}/metrics", response_model=MetricsBody)
async def curves(
    parts: Wired,
    caller: Signed,
    job_id: str,
    name: Names = [],  # noqa: B006  # read only
    task: Annotated[
        list[Annotated[Text, Query(max_length=80)]],
        Query(max_length=1000, description="Only these tasks; all when absent."),
    ] = [],  # noqa: B006
    attempt: Annotated[
        list[Annotated[int, Query(ge=0, le=10**6)]],
        Query(max_length=100, description="These attempts; the current one when absent."),
    ] = [],  # noqa: B006
    axis: Annotated[Axis, Query(description="Curves that have no such values use another.")] = "step",
    begin: Annotated[float | None, Query(description="From this place on the axis on.")] = None,
    end: Annotated[float | None, Query(description="Up to this place on the axis.")] = None,
    max_points: Annotated[int, Query(ge=2, le=10_000, description="Most points of each curve.")] = 500,
) -> Response:
    """Curves of a job's metrics, thinned so that lowest and highest points stay."""
    wanted = Wanted(name, task, attempt, axis, begin, end, max_points)
    job, drawn = await metrics.draw(parts.platform, caller, job_id, wanted)
    told = parts.platform.metrics.tasks(job.id)
    return JSONResponse(
        {
            "names": sorted({one.name for one in drawn}),
            "attempts": sorted({number for number, _ in told}),
            "tasks": list(dict.fromkeys(one for _, one in told)),
            "items": [_curve(one) for one in drawn],
        }
    )


@router.get(
    "/jobs/{job_id}/metrics/export",
    response_class=Response,
    responses={200: {"content": {"text/csv": {}}, "description": "A line for each point."}},
)
async def export(parts: Wired, caller: Signed, job_id: str) -> Response:
    """All points of a job, of all attempts and tasks, as CSV."""
    job, lines = await metrics.export(parts.platform, caller, job_id)
    headers = {"Content-Disposition": f'attachment; filename="{job.spec.name}-metrics.csv"'}
    return StreamingResponse(lines, media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/jobs/{job_id}/metrics/stream", response_class=Response)
async def follow(
    request: Request,
    parts: Wired,
    caller: Signed,
    job_id: str,
    last_event_id: Annotated[str, Header(alias="Last-Event-ID", max_length=262_144)] = "",
) -> Response:
    """Points as they come: `begin`, `points` with all so far, then with new ones, `end` when it is over."""
    return await follow_points(request, parts, caller, job_id, last_event_id)


@router.get("/metrics/latest", response_model=LatestValues)
async def latest(
    parts: Wired,
    caller: Signed,
    job: Annotated[list[Annotated[Text, Query(max_length=255)]], Query(min_length=1, max_length=MOST_JOBS)],
    name: Names = [],  # noqa: B006
) -> Response:
    """Newest, lowest and highest values of several jobs, to compare; jobs that are not there are left out."""
    found = await metrics.latest(parts.platform, caller, job, name)
    return JSONResponse(
        {
            "items": [
                {
                    "id": one.id,
                    "name": one.spec.name,
                    "state": one.state.value,
                    "parameters": show_job(one.spec).get("parameters", {}),
                    "items": [_latest(metric, figures[metric]) for metric in sorted(figures)],
                }
                for one, figures in found
            ]
        }
    )


def _curve(drawn: Drawn) -> dict[str, Any]:
    return {
        "name": drawn.name,
        "task": drawn.task,
        "attempt": drawn.attempt,
        "axis": drawn.axis,
        **_figures(drawn.curve),
        "is_thinned": drawn.is_thinned,
        "x": list(drawn.places),
        "values": _finite(drawn.points.value),
    }


def _latest(name: str, curve: Curve) -> dict[str, Any]:
    return {"name": name, **_figures(curve)}


def _figures(curve: Curve) -> dict[str, Any]:
    return {
        "n_points": curve.n_points,
        "last": None if curve.last is None else point_view(curve.last),
        "lowest": curve.lowest,
        "highest": curve.highest,
    }


def point_view(point: Point) -> dict[str, Any]:
    value = point.value if math.isfinite(point.value) else None
    return {"at": instant(point.at), "step": point.step, "epoch": point.epoch, "value": value}


def _finite(values: Sequence[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]
