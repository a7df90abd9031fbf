"""Figures for Prometheus, at /metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fastapi import APIRouter, Request
from fastapi.responses import Response

from footplate.domain.histogram import Histogram
from footplate.server.auth import Signed, Wired
from footplate.server.timing import CallTimes
from footplate.services import figures
from footplate.services.figures import Figure

router = APIRouter(include_in_schema=False)
KIND = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/metrics")
async def scrape(request: Request, parts: Wired, caller: Signed) -> Response:
    """Answer in Prometheus' text format; for admins, by the token of one."""
    times: CallTimes = request.app.state.call_times
    lines = [line for figure in figures.read(parts.platform, caller) for line in _lines(figure)]
    lines += _histograms(
        "footplate_queue_wait_seconds",
        "From the queue to the first running task.",
        [({"queue": queue}, waits) for queue, waits in sorted(parts.waits.by_queue.items())],
    )
    lines += _histograms(
        "footplate_scheduling_pass_seconds", "One scheduling pass.", [({}, parts.controller.pass_times)]
    )
    lines += _histograms(
        "footplate_api_seconds",
        "Until the answer to a call begins.",
        [({"method": method, "route": path}, one) for (method, path), one in sorted(times.by_route.items())],
    )
    lines += _lines(
        Figure(
            "footplate_jobs_ended_total",
            "Jobs that ended since the server started.",
            [
                ({"queue": queue, "state": state}, count)
                for (queue, state), count in sorted(parts.waits.ended.items())
            ],
            "counter",
        )
    )
    lines += _lines(
        Figure(
            "footplate_api_answers_total",
            "Answers by class of status.",
            [({"status": status}, count) for status, count in sorted(times.by_status.items())],
            "counter",
        )
    )
    return Response("\n".join([*lines, ""]), media_type=KIND)


def _lines(figure: Figure) -> Iterator[str]:
    yield f"# HELP {figure.name} {figure.help}"
    yield f"# TYPE {figure.name} {figure.kind}"
    for labels, value in figure.samples:
        yield f"{figure.name}{_labels(labels)} {value!r}"


def _histograms(name: str, help_: str, found: list[tuple[dict[str, str], Histogram]]) -> Iterator[str]:
    yield f"# HELP {name} {help_}"
    yield f"# TYPE {name} histogram"
    for labels, one in found:
        for bound, count in one.classes():
            yield f"{name}_bucket{_labels({**labels, 'le': bound})} {count}"
        yield f"{name}_sum{_labels(labels)} {one.total!r}"
        yield f"{name}_count{_labels(labels)} {one.n}"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
