"""What jobs use over REST, for charts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query

from footplate.domain.advice import advise
from footplate.domain.messages import Message
from footplate.domain.resources import Resources
from footplate.domain.spec import RoleSpec
from footplate.server.auth import Signed, Wired
from footplate.server.routes.logs import AttemptNumber, SinceTime, TaskName, moment
from footplate.services import jobs, logs
from footplate.store import usagefiles
from footplate.store.usagefiles import Rate, Sample
from footplate.wire.convert import amount, instant
from footplate.wire.jobs import UsageBody
from footplate.wire.told import told

router = APIRouter(prefix="/jobs/{job_id}/usage", tags=["jobs"])


@router.get("", response_model=UsageBody)
async def usage(
    parts: Wired,
    caller: Signed,
    job_id: str,
    task: TaskName = None,
    attempt: AttemptNumber = None,
    since: SinceTime = None,
    points: Annotated[int, Query(ge=1, le=2000, description="Most points to answer with.")] = 300,
) -> dict[str, Any]:
    """What a task has used: CPUs, memory, I/O, GPUs, oldest first."""
    job = await jobs.inspect(parts.platform, caller, job_id)
    name = logs.task_name(job, task)
    attempt_id = logs.attempt_id_of(job, attempt)
    begin = moment(since, parts.platform.clock.now()) or 0.0
    samples = await asyncio.to_thread(parts.platform.usage.read, attempt_id, name, begin)
    role = job.spec.role(name.rpartition("-")[0])
    return {
        "task": name,
        "asked": amount(Resources(role.milli_cpus, role.memory_bytes, role.gpus)),
        "points": [show_point(rate) for rate in usagefiles.rates(samples, points)],
        "advice": [told(one) for one in _advice(role, samples)] if job.state.is_final else [],
    }


def _advice(role: RoleSpec, samples: Sequence[Sample]) -> list[Message]:
    """What a task that is over could have asked for instead."""
    rates = usagefiles.rates(samples, len(samples) or 1)
    if not rates:
        return []
    busy = [rate.gpu_utilisation for rate in rates if rate.gpu_utilisation is not None]
    return advise(
        samples[-1].at - samples[0].at,
        role.memory_bytes,
        max(rate.memory_bytes for rate in rates),
        role.milli_cpus / 1000,
        max(rate.cpus for rate in rates),
        sum(busy) / len(busy) if busy else None,
    )


def show_point(rate: Rate) -> dict[str, Any]:
    return {**asdict(rate), "at": instant(rate.at), "cpus": round(rate.cpus, 3)}
