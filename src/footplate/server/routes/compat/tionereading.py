"""What TI-ONE's clients read of running tasks: logs and metrics."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

from footplate.dialects.fields import Reader
from footplate.dialects.tione import metrics, tasks, views
from footplate.domain.errors import InvalidInput, NotFound
from footplate.domain.job import Job
from footplate.server.parts import Parts
from footplate.services import cloudlogs, cloudtasks
from footplate.services import metrics as metric_service
from footplate.services.access import Caller

Answer = dict[str, Any]
LINES, MOST_LINES = 100, 1000
MOST_DRAWN = 5000
SERVICES = ("TRAIN",)


async def logs(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    """A page of lines of a task, or of some of its pods; the cursor is empty behind the last page."""
    service = asked.text("Service") or "TRAIN"
    if service not in SERVICES:
        raise InvalidInput("not_a_choice", "Service", options=list(SERVICES), given=service[:64])
    job, places = await _pods(parts, caller, asked.text("PodName"), asked.text("ServiceId"))
    filters = {one.text("Name"): one.texts("Values") for one in asked.each("Filters", 20)}
    wanted = cloudlogs.Wanted(
        tasks=places,
        limit=asked.whole("Limit", LINES, 1, MOST_LINES),
        backwards=(asked.text("Order") or "DESC") != "ASC",
        cursor=asked.text("Context"),
        since=_instant(asked, "StartTime"),
        until=_instant(asked, "EndTime"),
        words=filters.get("Key", []),
    )
    mask = await parts.platform.mask_of(job)
    lines, cursor = await asyncio.to_thread(cloudlogs.read, parts.platform, job, wanted, mask)
    content = [
        {
            "Id": f"{line.task}-{line.start}",
            "Timestamp": views.moment(line.at),
            "PodName": views.pod_name(job, job.tasks[line.task]),
            "Message": line.text,
        }
        for line in lines
    ]
    return {"Context": cursor, "Content": content}


async def _pods(parts: Parts, caller: Caller, name: str, service_id: str) -> tuple[Job, list[int]]:
    """The job that a pod is of, and the places of all pods that the name means."""
    wanted = name or f"{service_id}*"
    stem = wanted.removesuffix("*")
    job_id = tasks.job_of(stem)[:12]
    if not job_id:
        raise InvalidInput("required", "PodName")
    job = await cloudtasks.find(parts.platform, caller, job_id)
    # By the id of the task as the client knows it, which may stand for a newer job by now.
    own = [f"{tasks.task_id(job_id)}-{task.name}" for task in job.tasks]
    bare = stem if stem.startswith(tasks.ID_PREFIX) else tasks.task_id(stem)
    places = [
        place
        for place, one in enumerate(own)
        if one == bare or bare == tasks.task_id(job_id) or (wanted.endswith("*") and one.startswith(bare))
    ]
    if not places:
        raise NotFound("no_task_but", job=job.id, task=name[:80], some=", ".join(own[:10]))
    return job, places


def _instant(asked: Reader, name: str) -> float | None:
    text = asked.text(name, most=64)
    if not text:
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput("not_instant", name, given=text) from None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


async def push(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    for task, document in metrics.pushed(asked).items():
        job = await cloudtasks.find(parts.platform, caller, tasks.job_of(task))
        await metric_service.push(parts.platform, caller, job.id, json.dumps(document).encode())
    return {}


async def latest(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    task = asked.text("TaskId", None)
    job = await cloudtasks.find(parts.platform, caller, tasks.job_of(task))
    curves = await asyncio.to_thread(metric_service.latest_of, parts.platform, job)
    last = {name: curve.last for name, curve in curves.items() if curve.last is not None}
    return {"TaskId": task, "Metrics": metrics.latest_view(last)}


async def curves(parts: Parts, caller: Caller, asked: Reader) -> Answer:
    task = asked.text("TaskId", None)
    job = await cloudtasks.find(parts.platform, caller, tasks.job_of(task))
    wanted = metric_service.Wanted(axis="time", max_points=MOST_DRAWN)
    _, drawn = await metric_service.draw(parts.platform, caller, job.id, wanted)
    return {"TaskId": task, "Data": metrics.curves_view((one.name, one.points) for one in drawn)}


ACTIONS = {
    "DescribeLogs": logs,
    "PushTrainingMetrics": push,
    "DescribeLatestTrainingMetrics": latest,
    "DescribeTrainingMetrics": curves,
}
