"""The waiting jobs in the order of the scheduler."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.estimate import Estimate
from footplate.domain.job import Job
from footplate.domain.listing import SeenJob, line_of
from footplate.domain.states import JobState
from footplate.services.access import Caller, may_see
from footplate.services.outlines import seen
from footplate.services.platform import Platform

# An estimate runs the scheduler ahead; who is far behind can ask for one by its job.
MOST_ESTIMATES = 10


@dataclass(frozen=True, slots=True)
class WaitingJob:
    seen: SeenJob
    estimate: Estimate | None


async def in_order(platform: Platform, caller: Caller, queue: str, limit: int) -> list[WaitingJob]:
    """The waiting jobs that a caller may see, first to start first."""
    found: list[Job] = []
    for job_id in platform.scheduler.order:
        job = platform.store.board.get(job_id)
        if job is None or job.state is not JobState.QUEUED or queue not in ("", job.spec.queue):
            continue
        if may_see(caller, job.owner, job.spec.queue):
            found.append(job)
        if len(found) == limit:
            break
    why = await platform.scheduler.explain(job.id for job in found)
    near = {job.id: await platform.scheduler.estimate(job.id) for job in found[:MOST_ESTIMATES]}
    return [
        WaitingJob(seen(platform, caller, line_of(job), why.get(job.id)), near.get(job.id)) for job in found
    ]


def n_waiting(platform: Platform) -> int:
    """How many jobs wait in all, also those that a caller may not see."""
    return len(platform.scheduler.order)
