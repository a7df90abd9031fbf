"""Converts domain values to bodies of the REST API: the only place that does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from footplate.domain.cluster import EngineFacts, Node, Queue
from footplate.domain.estimate import Estimate
from footplate.domain.job import Job, Task
from footplate.domain.jobfile import show_job
from footplate.domain.kinds import show_instant
from footplate.domain.listing import JobLine, SeenJob
from footplate.domain.messages import Message, as_json
from footplate.domain.resources import UNLIMITED, Resources
from footplate.domain.results import SavedResults, place_of
from footplate.domain.states import Reason
from footplate.wire.body import Amount, Maximum
from footplate.wire.told import told

View = dict[str, Any]


def instant(at: float | None) -> str | None:
    return None if at is None else show_instant(at)


def amount(resources: Resources) -> View:
    return {
        "cpus": resources.milli_cpus / 1000,
        "memory_bytes": resources.memory_bytes,
        "gpus": resources.gpus,
    }


def resources(body: Amount) -> Resources:
    return Resources(round(body.cpus * 1000), body.memory_bytes, body.gpus)


def maximum(body: Maximum | None) -> Resources | None:
    if body is None:
        return None
    cpus, memory_bytes, gpus = body.cpus, body.memory_bytes, body.gpus
    return Resources(
        UNLIMITED if cpus is None else round(cpus * 1000),
        UNLIMITED if memory_bytes is None else memory_bytes,
        UNLIMITED if gpus is None else gpus,
    )


def maximum_view(bound: Resources | None) -> View | None:
    if bound is None:
        return None
    held = {"cpus": bound.milli_cpus, "memory_bytes": bound.memory_bytes, "gpus": bound.gpus}
    shown = amount(bound)
    return {name: None if held[name] == UNLIMITED else shown[name] for name in held}


def reason_view(reason: Reason) -> View:
    return {"code": reason.code.value, **told(reason.said), "details": as_json(reason.details)}


def run_time_s(job: JobLine, now: float) -> float | None:
    """How long the current attempt has run, or ran."""
    since = job.running_at or job.started_at
    if since is None:
        return None
    return round(max(0.0, (now if job.finished_at is None else job.finished_at) - since), 3)


def line_view(seen: SeenJob, now: float) -> View:
    """A line of the job list, as somebody sees it."""
    line = seen.line
    return {
        "id": line.id,
        "name": line.name,
        "description": line.description,
        "owner": line.owner,
        "queue": line.queue,
        "state": line.state.value,
        "reason": reason_view(seen.reason),
        "priority": line.priority,
        "is_shared": seen.is_shared,
        "is_readable": seen.is_readable,
        "attempt": line.attempt,
        "retries_used": line.retries_used,
        "retry": line.retry,
        "n_tasks": line.n_tasks,
        "resources": amount(Resources(line.milli_cpus, line.memory_bytes, line.gpus)),
        "tags": list(line.tags),
        "submitted_at": instant(line.submitted_at),
        "queued_at": instant(line.queued_at),
        "started_at": instant(line.started_at),
        "running_at": instant(line.running_at),
        "finished_at": instant(line.finished_at),
        "run_time_s": run_time_s(line, now),
        "position": seen.position,
        "progress": None if seen.headway is None else asdict(seen.headway),
        "is_deleting": line.is_deleting,
        "kept_until": instant(line.kept_until),
        "deleted_at": instant(line.deleted_at),
    }


def job_view(job: Job, seen: SeenJob, now: float, can: View) -> View:
    """A whole job, or as much of it as an outline has."""
    return {
        **line_view(seen, now),
        "tasks": task_views(job.tasks) if seen.is_readable else [],
        "config": show_job(job.spec) if seen.is_readable else {},
        "can": can,
        "estimate": None,
        "results": results_view(SavedResults(*place_of(job)))
        if seen.is_readable and job.spec.results is not None
        else None,
    }


def results_view(saved: SavedResults) -> View:
    return {
        "storage": saved.storage,
        "path": saved.path,
        "state": saved.state.value,
        "is_complete": saved.is_complete,
        "saved_at": instant(saved.saved_at),
        "n_files": saved.n_files,
        "size_bytes": saved.size_bytes,
        "n_left_out": saved.n_left_out,
        "error": None if saved.error is None else told(saved.error),
    }


def estimate_view(estimate: Estimate) -> View:
    return {
        "expected_at": instant(estimate.expected_at),
        "latest_at": instant(estimate.latest_at),
        "basis": told(estimate.basis),
    }


def task_views(tasks: Iterable[Task]) -> list[View]:
    return [
        {
            "role": task.role,
            "index": task.index,
            "name": task.name,
            "state": task.state.value,
            "node": task.node,
            "address": task.address,
            "gpus": list(task.gpus),
            "ports": {label: list(numbers) for label, numbers in task.ports},
            "exit_code": task.exit_code,
            "detail": None if task.detail is None else told(task.detail),
            "cause": task.cause,
            "run": task.run,
            "started_at": instant(task.started_at),
            "finished_at": instant(task.finished_at),
        }
        for task in tasks
    ]


def queue_view(
    queue: Queue,
    used: Resources,
    n_running: int,
    n_waiting: int,
    my_role: str | None,
    engine_problem: Message | None,
) -> View:
    return {
        "name": queue.name,
        "description": queue.description,
        "share": amount(queue.share),
        "maximum": maximum_view(queue.maximum),
        "nodes": list(queue.nodes),
        "is_open": queue.is_open,
        "environments": dict(queue.environments),
        "engine": queue.engine,
        "engine_problem": None if engine_problem is None else told(engine_problem),
        "is_shared": queue.is_shared,
        "retention": dict(queue.retention),
        "used": amount(used),
        "n_running": n_running,
        "n_waiting": n_waiting,
        "my_role": my_role,
    }


def engine_view(engine: EngineFacts) -> View:
    return {
        "name": engine.name,
        "is_default": engine.is_default,
        "places_itself": engine.places_itself,
        "chooses": list(engine.chooses),
        "limits": list(engine.limits),
        "runs_images": engine.runs_images,
        "runs_commands": engine.runs_commands,
        "away": None if engine.away is None else told(engine.away),
    }


def node_view(node: Node, used: Resources, cards: dict[int, str]) -> View:
    taken_by_others = sum(gpu.in_use_by_others and gpu.index not in cards for gpu in node.gpus)
    return {
        "name": node.name,
        "address": node.address,
        "engine": node.engine,
        "cpus": node.milli_cpus / 1000,
        "memory_bytes": node.memory_bytes,
        "gpus": [
            {
                "index": gpu.index,
                "type": gpu.type,
                "memory_bytes": gpu.memory_bytes,
                "job_id": cards.get(gpu.index),
                "in_use_by_others": gpu.in_use_by_others,
            }
            for gpu in node.gpus
        ],
        "is_schedulable": node.is_schedulable,
        "drained_by": node.drained_by or None,
        "enforced": list(node.enforced),
        "unenforced": None if node.unenforced is None else told(node.unenforced),
        "free": amount(node.capacity - used - Resources(gpus=taken_by_others)),
    }
