"""When a waiting job will start, by letting the scheduler itself run ahead in time."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import replace

from footplate.domain.cluster import Placement
from footplate.scheduler.line import Waiting
from footplate.scheduler.plan import plan
from footplate.scheduler.policy import Policy
from footplate.scheduler.snapshot import PendingJob, RunningJob, Snapshot

MOST_STEPS = 300
# How many waiting jobs all those plans may look at together.
MOST_PLANNED = 100_000

# How long a job will still run, from the given moment on; infinite when nobody can know.
Remaining = Callable[[RunningJob | PendingJob, float], float]


def start_of(
    job_id: str, snapshot: Snapshot, policy: Policy, now: float, remaining: Remaining
) -> float | None:
    """Say when a job starts if all jobs end as `remaining` says.

    None when that takes the end of a job that may never end, or lies further ahead than is worth following.
    """
    ends = [(now + remaining(job, now), job.id) for job in snapshot.running]
    # The end of a pause is a moment to plan at, too, at which no job ends.
    ends += [(job.pause.until, "") for job in snapshot.pending if job.pause is not None and job.pauses(now)]
    heapq.heapify(ends)
    running = {job.id: job for job in snapshot.running}
    pending = Waiting(snapshot.pending)
    at, n_planned = now, 0
    for _ in range(MOST_STEPS):
        n_planned += len(pending)
        if n_planned > MOST_PLANNED:
            return None
        seen = replace(snapshot, running=tuple(running.values()), pending=pending.line())
        for start in plan(seen, policy, at).starts:
            if start.job_id == job_id:
                return at
            job = pending[start.job_id]
            pending.discard(job.id)
            running[job.id] = _started(job, start.placement, at)
            heapq.heappush(ends, (at + remaining(job, at), job.id))
        if not ends or math.isinf(ends[0][0]):
            return None
        at, ended = heapq.heappop(ends)
        running.pop(ended, None)
        while ends and ends[0][0] <= at:
            running.pop(heapq.heappop(ends)[1], None)
    return None


def _started(job: PendingJob, placement: Placement, at: float) -> RunningJob:
    ends_by = None if job.time_limit_s is None else at + job.time_limit_s
    return RunningJob(job.id, job.queue, job.priority, placement, ends_by)


def only_ahead_of(job_id: str, order: tuple[str, ...], snapshot: Snapshot) -> Snapshot:
    """Leave out the jobs behind one: the scheduler lets none of them delay it."""
    ahead = set(order[: order.index(job_id) + 1])
    return replace(snapshot, pending=tuple(job for job in snapshot.pending if job.id in ahead))
