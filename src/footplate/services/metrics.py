"""What a caller may do with metrics of jobs: tell points, and read curves, newest values and tables."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from footplate.domain.errors import Denied, InvalidInput, NotFound
from footplate.domain.job import Job
from footplate.domain.metrics import TOTALS, Batch, Columns, Point, read_batch
from footplate.domain.problems import name_of
from footplate.services.access import Caller
from footplate.services.entering import find_enterable
from footplate.services.jobs import inspect
from footplate.services.logs import attempt_id_of, task_name
from footplate.services.platform import Platform
from footplate.store.curves import Axis, Curve, axis_of, over, thin_to

HIDDEN = frozenset(TOTALS.values())
MOST_CURVES = 1000


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which curves somebody wants, over what, and how many points of each at most."""

    names: Collection[str] = ()
    tasks: Sequence[str] = ()
    attempts: Sequence[int] = ()
    axis: Axis = "step"
    begin: float | None = None
    end: float | None = None
    max_points: int = 500


@dataclass(frozen=True, slots=True)
class Drawn:
    """A curve for a chart: `places` are on the axis."""

    name: str
    task: str
    attempt: int
    axis: Axis
    curve: Curve
    places: Sequence[float]
    points: Columns
    is_thinned: bool


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a batch: how many points it had, and whether it had not been kept before."""

    n_points: int
    is_new: bool


async def push(platform: Platform, caller: Caller, id_or_name: str, body: bytes) -> Told:
    """Keep the points that a job, or somebody for it, has sent."""
    job = await find_enterable(platform, caller, id_or_name, "metrics", "push_metrics")
    if platform.disk.is_low:
        platform.disk.require_room("")
    document, batch = await asyncio.to_thread(_read, body, platform.clock.now())
    task, attempt = document.get("task"), document.get("attempt")
    if task is not None and not isinstance(task, str):
        raise InvalidInput("not_metric_name", "task", given=str(task)[:80], most=80)
    if attempt is not None and (not isinstance(attempt, int) or isinstance(attempt, bool)):
        raise InvalidInput("not_whole_number", "attempt", given=name_of(attempt))
    attempt_id, name = attempt_id_of(job, attempt), task_name(job, task)
    is_new = await platform.metrics.keep(attempt_id, name, batch)
    return Told(batch.n_points, is_new)


def _read(body: bytes, now: float) -> tuple[dict[str, Any], Batch]:
    # Not as job files are read: that would take longer than all the rest.
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("document_not_json", source="body", error=str(error)) from None
    return document, read_batch(document, now)


async def draw(
    platform: Platform, caller: Caller, id_or_name: str, wanted: Wanted
) -> tuple[Job, list[Drawn]]:
    """The curves of a job, thinned: lowest and highest points of each part stay."""
    job = await inspect(platform, caller, id_or_name)
    return job, await asyncio.to_thread(_draw, platform, job, wanted)


def _draw(platform: Platform, job: Job, wanted: Wanted) -> list[Drawn]:
    drawn: list[Drawn] = []
    for attempt, task in _told_by(platform, job, wanted):
        curves = platform.metrics.curves(f"{job.id}.{attempt}", task)
        for name in sorted(curves):
            if name not in HIDDEN and (not wanted.names or name in wanted.names):
                drawn.append(_one(platform, job, attempt, task, name, curves[name], wanted))
                if len(drawn) == MOST_CURVES:
                    return drawn
    return drawn


def _told_by(platform: Platform, job: Job, wanted: Wanted) -> Iterator[tuple[int, str]]:
    tasks = {one.replace("/", "-") for one in wanted.tasks}
    attempts = set(wanted.attempts or (job.attempt,))
    for attempt, task in platform.metrics.tasks(job.id):
        if attempt in attempts and (not tasks or task in tasks):
            yield attempt, task


def _one(
    platform: Platform, job: Job, attempt: int, task: str, name: str, curve: Curve, wanted: Wanted
) -> Drawn:
    held = curve.shape.columns() if curve.shape is not None else Columns()
    axis = axis_of(held, wanted.axis)
    columns, places = _window(held, axis, wanted)
    is_whole = curve.shape is not None and curve.shape.stride == 1
    is_zoomed = wanted.begin is not None or wanted.end is not None
    if not is_whole and is_zoomed and len(columns) < wanted.max_points:
        # Memory has too little of this part: the file has all of it.
        raw = platform.metrics.raw(f"{job.id}.{attempt}", task, name)
        columns, places = _window(raw, axis, wanted)
        is_whole = True
    n_seen = len(columns)
    columns = thin_to(columns, wanted.max_points)
    _, places = over(columns, axis)
    is_thinned = not is_whole or len(columns) < n_seen
    return Drawn(name, task, attempt, axis, curve, places, columns, is_thinned)


def _window(columns: Columns, axis: Axis, wanted: Wanted) -> tuple[Columns, Sequence[float]]:
    columns, places = over(columns, axis)
    begin = -math.inf if wanted.begin is None else wanted.begin
    end = math.inf if wanted.end is None else wanted.end
    if begin == -math.inf and end == math.inf:
        return columns, places
    chosen = [place for place, at in enumerate(places) if begin <= at <= end]
    # One more on each side, so that lines lead out of the picture.
    first, last = (chosen[0], chosen[-1]) if chosen else (0, -1)
    return over(columns.part(max(0, first - 1), last + 2), axis)


async def latest(
    platform: Platform, caller: Caller, ids: Sequence[str], names: Collection[str] = ()
) -> list[tuple[Job, dict[str, Curve]]]:
    """The newest, lowest and highest values of each metric of some jobs; unknown jobs are left out.

    Of several tasks that tell the same metric, the first counts; of attempts, the last that told something.
    """
    jobs = []
    for one in ids:
        try:
            jobs.append(await inspect(platform, caller, one))
        except (NotFound, Denied):
            continue
    return await asyncio.to_thread(
        lambda: [(job, latest_of(platform, job, names)) for job in jobs],
    )


def latest_of(platform: Platform, job: Job, names: Collection[str] = ()) -> dict[str, Curve]:
    """The figures of each metric of a job; reads files where memory does not know them."""
    told = platform.metrics.tasks(job.id)
    if not told:
        return {}
    last = told[-1][0]
    found: dict[str, Curve] = {}
    for attempt, task in told:
        if attempt == last:
            for name, curve in platform.metrics.figures(f"{job.id}.{attempt}", task).items():
                if name not in HIDDEN and (not names or name in names):
                    found.setdefault(name, curve)
    return found


async def export(platform: Platform, caller: Caller, id_or_name: str) -> tuple[Job, Iterator[str]]:
    """All points of all attempts and tasks, as lines of CSV."""
    job = await inspect(platform, caller, id_or_name)
    return job, _lines(platform, job)


def _lines(platform: Platform, job: Job) -> Iterator[str]:
    yield "attempt,task,name,step,epoch,time,value\r\n"
    for attempt, task in platform.metrics.tasks(job.id):
        for record in platform.metrics.records(f"{job.id}.{attempt}", task):
            yield "".join(
                _line(attempt, task, columns.point(place, name))
                for name, columns in record.curves()
                if name not in HIDDEN
                for place in range(len(columns))
            )


def _line(attempt: int, task: str, point: Point) -> str:
    step, epoch = ("" if one is None else repr(one) for one in (point.step, point.epoch))
    return f"{attempt},{task},{_cell(point.name)},{step},{epoch},{point.at!r},{point.value!r}\r\n"


def _cell(text: str) -> str:
    # What a spreadsheet would take for a formula is told to be a text.
    text = f"'{text}" if text[:1] in "=+-@" else text
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\r\n') else text
