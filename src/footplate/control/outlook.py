"""When a waiting job is expected to start, from time limits and from how long such jobs ran before."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from footplate.control.runtimes import Kind, RunTimes, kind_of
from footplate.domain.estimate import Estimate
from footplate.domain.job import Job
from footplate.scheduler.forecast import Remaining, only_ahead_of, start_of
from footplate.scheduler.policy import Policy
from footplate.scheduler.snapshot import PendingJob, RunningJob, Snapshot

# A job that has outrun what is usual is expected to take a little longer, not to end at once.
OVERRUN = 0.1


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the run time of a job."""

    since: float | None
    limit_s: float | None
    usual_s: tuple[float, float] | None


async def estimate(
    job_id: str,
    snapshot: Snapshot,
    order: tuple[str, ...],
    policy: Policy,
    now: float,
    known: Mapping[str, Known],
) -> Estimate:
    """Let the scheduler run ahead twice: with usual run times, and with time limits alone."""
    seen = only_ahead_of(job_id, order, snapshot)
    expected, latest = await asyncio.gather(
        asyncio.to_thread(start_of, job_id, seen, policy, now, _by(known, _usual)),
        asyncio.to_thread(start_of, job_id, seen, policy, now, _by(known, _limit)),
    )
    basis = _basis(seen, known, expected, latest)
    if any(job.id == job_id and job.pauses(now) for job in seen.pending):
        basis += "; it pauses before it is tried again"
    return Estimate(expected, latest, basis)


def know(jobs: Mapping[str, Job], run_times: RunTimes) -> dict[str, Known]:
    """Gather what is known of the run times of living jobs."""
    usual: dict[Kind, tuple[float, float] | None] = {}
    known = {}
    for job in jobs.values():
        kind = kind_of(job.owner, job.spec.name)
        if kind not in usual:
            usual[kind] = run_times.usual(kind)
        since = job.running_at or job.started_at
        known[job.id] = Known(since, job.spec.time_limit_s, usual[kind])
    return known


def _by(known: Mapping[str, Known], total_s: Callable[[Known], float]) -> Remaining:
    def remaining(job: RunningJob | PendingJob, at: float) -> float:
        one = known.get(job.id)
        whole_s: float = math.inf if one is None else total_s(one)
        if math.isinf(whole_s) or one is None or one.since is None or isinstance(job, PendingJob):
            return whole_s
        return max(one.since + whole_s - at, whole_s * OVERRUN)

    return remaining


def _usual(one: Known) -> float:
    limit_s = math.inf if one.limit_s is None else one.limit_s
    return limit_s if one.usual_s is None else min(limit_s, one.usual_s[0])


def _limit(one: Known) -> float:
    return math.inf if one.limit_s is None else one.limit_s


def _basis(seen: Snapshot, known: Mapping[str, Known], expected: float | None, latest: float | None) -> str:
    held = [one for job in seen.running if (one := known.get(job.id)) is not None]
    unlimited = sum(one.limit_s is None for one in held)
    unheard = sum(one.limit_s is None and one.usual_s is None for one in held)
    if expected is None:
        return (
            f"nobody can tell: of {len(held)} running jobs {unheard} have no time limit, "
            "and nothing like them has run before"
        )
    if latest is None:
        return f"from usual run times; no later bound, since {unlimited} running jobs have no time limit"
    return "from usual run times and time limits"
