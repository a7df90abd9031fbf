"""What MLflow's clients ask: runs are begun in jobs, and their metrics are those of the job."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from footplate.domain.errors import Conflict, Denied, InvalidInput, NotFound
from footplate.domain.job import Job
from footplate.domain.metrics import MOST_POINTS, Point, gather, is_metric_name
from footplate.services.access import Caller, require_touch
from footplate.services.jobs import inspect
from footplate.services.logs import task_name
from footplate.services.metrics import HIDDEN
from footplate.services.platform import Platform
from footplate.store.trackedruns import Experiment, TrackedRun

Data = Mapping[str, Any]
MOST_TEXT = 65_536
STATUSES = {1: "RUNNING", 2: "SCHEDULED", 3: "FINISHED", 4: "FAILED", 5: "KILLED"}


@dataclass(frozen=True, slots=True)
class SeenRun:
    """A run with its newest values."""

    run: TrackedRun
    owner: str
    metrics: Mapping[str, Point]


async def experiment(platform: Platform, experiment_id: str) -> Experiment:
    found = (await asyncio.to_thread(platform.runs.experiments)).get(experiment_id)
    if found is None:
        raise NotFound("no_experiment", experiment=experiment_id[:80])
    return found


async def experiment_named(platform: Platform, name: str) -> Experiment:
    every = await asyncio.to_thread(platform.runs.experiments)
    found = next((one for one in every.values() if one.name == name), None)
    if found is None:
        raise NotFound("no_experiment", experiment=name[:80])
    return found


async def add_experiment(platform: Platform, name: str) -> Experiment:
    if not 0 < len(name) <= 250 or not name.isprintable():
        raise InvalidInput("not_metric_name", "name", given=name[:80], most=250)
    made = await asyncio.to_thread(platform.runs.add_experiment, name, platform.clock.now())
    if made is None:
        raise Conflict("experiment_taken", experiment=name)
    return made


async def begin(platform: Platform, caller: Caller, task: str, asked: Data) -> SeenRun:
    """Begin a run in the job that calls."""
    if caller.job_id is None:
        raise Denied("runs_in_jobs_only")
    job = await inspect(platform, caller, caller.job_id)
    name = task_name(job, task or None)
    found = await experiment(platform, str(asked.get("experiment_id") or "0"))
    tags = {str(one["key"]): str(one.get("value", "")) for one in asked.get("tags", [])}
    title = str(asked.get("run_name") or tags.get("mlflow.runName") or "")[:200]
    at = float(asked.get("start_time") or platform.clock.now() * 1000) / 1000
    run = await asyncio.to_thread(platform.runs.add, job.id, job.attempt, name, found.id, title, at)
    tags = {**tags, "mlflow.runName": run.name}
    run = await asyncio.to_thread(lambda: platform.runs.change(run, tags=tags))
    return SeenRun(run, job.owner, {})


async def see(platform: Platform, caller: Caller, run_id: str) -> SeenRun:
    job, run = await _find(platform, caller, run_id)
    return await asyncio.to_thread(_seen, platform, job, run)


async def update(platform: Platform, caller: Caller, asked: Data) -> SeenRun:
    job, run = await _own(platform, caller, str(asked.get("run_id") or asked.get("run_uuid") or ""))
    changes: dict[str, Any] = {}
    status = asked.get("status")
    if status is not None:
        changes["status"] = STATUSES.get(status, str(status)) if isinstance(status, int) else str(status)
    if asked.get("end_time"):
        changes["ended_at"] = float(asked["end_time"]) / 1000
    if asked.get("run_name"):
        changes["name"] = str(asked["run_name"])[:200]
        changes["tags"] = {"mlflow.runName": changes["name"]}
    return await _changed(platform, job, run, changes)


async def mark_deleted(platform: Platform, caller: Caller, run_id: str, is_deleted: bool) -> None:
    job, run = await _own(platform, caller, run_id)
    await _changed(platform, job, run, {"is_deleted": is_deleted})


async def note(platform: Platform, caller: Caller, run_id: str, asked: Data) -> None:
    """Keep metrics, params and tags of a run."""
    job, run = await _own(platform, caller, run_id)
    metrics: Sequence[Data] = asked.get("metrics", [])
    if len(metrics) > MOST_POINTS:
        raise InvalidInput("too_many_points", "metrics", most=MOST_POINTS, given=len(metrics))
    points = [_point(one, run.prefix, platform.clock.now()) for one in metrics]
    if points:
        await platform.metrics.keep(f"{run.job_id}.{run.attempt}", run.task, gather(points))
    params = {str(one["key"]): str(one.get("value", "")) for one in asked.get("params", [])}
    tags = {str(one["key"]): one.get("value") for one in asked.get("tags", [])}
    differing = [name for name, text in params.items() if run.params.get(name, text) != text]
    if differing:
        raise InvalidInput("param_set_already", "params", name=differing[0][:80])
    if len(json.dumps([params, tags])) > MOST_TEXT:
        raise InvalidInput("param_too_long", "params", most_bytes=MOST_TEXT)
    if params or tags:
        await _changed(platform, job, run, {"params": params, "tags": tags})


async def history(platform: Platform, caller: Caller, run_id: str, key: str) -> list[Point]:
    """All points of one metric of a run."""
    _, run = await _find(platform, caller, run_id)
    attempt_id, name = f"{run.job_id}.{run.attempt}", run.prefix + key
    columns = await asyncio.to_thread(platform.metrics.raw, attempt_id, run.task, name)
    return [columns.point(place, key) for place in range(len(columns))]


async def runs_in(platform: Platform, caller: Caller, experiments: Sequence[str]) -> list[SeenRun]:
    """All runs of some experiments that the caller may see."""
    found: list[SeenRun] = []
    known = await asyncio.to_thread(platform.runs.experiments)
    for one in experiments:
        for job_id in known[one].jobs if one in known else ():
            try:
                job = await inspect(platform, caller, job_id)
            except (NotFound, Denied):
                continue
            runs = await asyncio.to_thread(platform.runs.of_job, job.id)
            found += [
                await asyncio.to_thread(_seen, platform, job, run)
                for run in runs.values()
                if run.experiment == one
            ]
    return found


async def job_of_run(platform: Platform, caller: Caller, run_id: str, writes: bool) -> tuple[Job, TrackedRun]:
    """Find a run for its artifacts."""
    return await (_own if writes else _find)(platform, caller, run_id)


async def _find(platform: Platform, caller: Caller, run_id: str) -> tuple[Job, TrackedRun]:
    job_id = run_id.rpartition("-")[0]
    try:
        job = await inspect(platform, caller, job_id or "none")
    except NotFound:
        raise NotFound("no_run", run=run_id[:80]) from None
    run = (await asyncio.to_thread(platform.runs.of_job, job.id)).get(run_id)
    if run is None:
        raise NotFound("no_run", run=run_id[:80])
    return job, run


async def _own(platform: Platform, caller: Caller, run_id: str) -> tuple[Job, TrackedRun]:
    job, run = await _find(platform, caller, run_id)
    require_touch(caller, job, "push_metrics")
    return job, run


async def _changed(platform: Platform, job: Job, run: TrackedRun, changes: Data) -> SeenRun:
    changed = await asyncio.to_thread(lambda: platform.runs.change(run, **changes))
    return await asyncio.to_thread(_seen, platform, job, changed)


def _seen(platform: Platform, job: Job, run: TrackedRun) -> SeenRun:
    others = [one.prefix for one in platform.runs.of_job(job.id).values() if one.prefix and one != run]
    figures = platform.metrics.figures(f"{job.id}.{run.attempt}", run.task)
    newest = {
        name.removeprefix(run.prefix): curve.last
        for name, curve in figures.items()
        if curve.last is not None and name not in HIDDEN and name.startswith(run.prefix)
        if run.prefix or not name.startswith(tuple(others) or ("\0",))
    }
    return SeenRun(run, job.owner, newest)


def _point(one: Data, prefix: str, now: float) -> Point:
    name = prefix + str(one.get("key", ""))
    if not is_metric_name(name):
        raise InvalidInput("not_metric_name", "metrics", given=name[:80], most=250)
    try:
        value = float(one.get("value", math.nan))
        at = float(one.get("timestamp") or now * 1000) / 1000
        step = int(one.get("step") or 0)
    except (TypeError, ValueError):
        raise InvalidInput("not_metric_entry", "metrics") from None
    return Point(at, name, value, step)
