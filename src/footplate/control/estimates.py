"""When a waiting job is expected to start, from time limits and from how long such jobs ran before."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from footplate.control.durations import Durations, Series, series_of
from footplate.domain.estimate import Estimate
from footplate.domain.job import Job
from footplate.domain.messages import Message, say
from footplate.scheduler.decisions import Plan
from footplate.scheduler.estimate import MOST_STEPS, Remaining, only_ahead_of, start_of
from footplate.scheduler.policy import Policy
from footplate.scheduler.snapshot import PendingJob, RunningJob, Snapshot

# A job that has outrun what is usual is expected to take a little longer, not to end at once.
OVERRUN = 0.1
# With more jobs ahead than that, the simulation would cost more than its result is worth.
MOST_AHEAD = 1000
# For as long as the plan is the same; the passing of time alone changes little.
GOOD_FOR_S = 5.0


class Estimates:
    """Tells when jobs start, one at a time, and the same thing as long as it is good for."""

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()
        self._told: dict[str, Estimate] = {}
        self._told_by: Plan | None = None
        self._told_at = -math.inf

    async def tell(
        self,
        job_id: str,
        last: Plan,
        snapshot: Snapshot,
        policy: Policy,
        now: float,
        jobs: Mapping[str, Job],
        durations: Durations,
    ) -> Estimate:
        """Say when a job that waits by the last plan starts."""
        async with self._one_at_a_time:
            if last is not self._told_by or not 0 <= now - self._told_at <= GOOD_FOR_S:
                self._told, self._told_by, self._told_at = {}, last, now
            if job_id not in self._told:
                seen = only_ahead_of(job_id, last.order, snapshot)
                self._told[job_id] = await _estimate(job_id, seen, policy, now, jobs, durations)
            return self._told[job_id]

    async def tell_new(
        self,
        job: Job,
        planned: Plan,
        seen: Snapshot,
        policy: Policy,
        jobs: Mapping[str, Job],
        durations: Durations,
    ) -> Estimate | None:
        """Say when a job would start that waits in a plan nobody carries out; None if it does not wait."""
        if job.id not in planned.position:
            return None
        async with self._one_at_a_time:
            ahead = only_ahead_of(job.id, planned.order, seen)
            return await _estimate(job.id, ahead, policy, job.queued_at, jobs, durations)


async def _estimate(
    job_id: str, seen: Snapshot, policy: Policy, now: float, jobs: Mapping[str, Job], durations: Durations
) -> Estimate:
    if len(seen.pending) > MOST_AHEAD:
        return Estimate(None, None, say("no_estimate_many", n=len(seen.pending) - 1))
    ids = [one.id for one in seen.running] + [one.id for one in seen.pending]
    known = know([job for one in ids if (job := jobs.get(one))], durations)
    return await estimate(job_id, seen, policy, now, known)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of how long a job holds its place: its run time, and what may come after it."""

    since: float | None
    limit_s: float | None
    usual_s: tuple[float, float] | None
    after_s: float = 0.0
    # For one that has ended and is kept: when it is released.
    kept_until: float | None = None


async def estimate(
    job_id: str, seen: Snapshot, policy: Policy, now: float, known: Mapping[str, Known]
) -> Estimate:
    """Let the scheduler run ahead of itself: with usual run times, and with time limits alone."""
    latest = await asyncio.to_thread(start_of, job_id, seen, policy, now, _by(known, _limit))
    expected = latest
    if any(one.usual_s is not None for one in known.values()):
        expected = await asyncio.to_thread(start_of, job_id, seen, policy, now, _by(known, _usual))
    before = {job.id for job in seen.running} | {job.id for job in seen.pending if job.id != job_id}
    basis = _basis([known[one] for one in before if one in known], expected, latest)
    if any(job.id == job_id and job.pauses(now) for job in seen.pending):
        basis = say("with_pause", what=basis)
    return Estimate(expected, latest, basis)


def know(jobs: Iterable[Job], durations: Durations) -> dict[str, Known]:
    """Gather what is known of the run times of living jobs."""
    usual: dict[Series, tuple[float, float] | None] = {}
    known = {}
    for job in jobs:
        series = series_of(job.owner, job.spec.name)
        if series not in usual:
            usual[series] = durations.usual(series)
        # A failure may be kept for a while, and then comes the polite stop.
        keep_s = 0.0 if job.is_kept else job.spec.keep_on_failure_s or 0.0
        after_s = keep_s + job.spec.grace_s
        known[job.id] = Known(job.running_at, job.spec.time_limit_s, usual[series], after_s, job.kept_until)
    return known


def _by(known: Mapping[str, Known], total_s: Callable[[Known], float]) -> Remaining:
    def remaining(job: RunningJob | PendingJob, at: float) -> float:
        one = known.get(job.id)
        if one is None:
            return math.inf
        if one.kept_until is not None:
            return max(one.kept_until - at, 0.0) + one.after_s
        whole_s = total_s(one)
        if math.isinf(whole_s) or one.since is None or isinstance(job, PendingJob):
            return whole_s
        return max(one.since + whole_s - at, whole_s * OVERRUN)

    return remaining


def _usual(one: Known) -> float:
    limit_s = _limit(one)
    return limit_s if one.usual_s is None else min(limit_s, one.usual_s[0])


def _limit(one: Known) -> float:
    return math.inf if one.limit_s is None else one.limit_s + one.after_s


def _basis(before: Sequence[Known], expected: float | None, latest: float | None) -> Message:
    """Say what an estimate rests on, by what is known of the jobs that run or are ahead."""
    lasting = [one for one in before if one.kept_until is None]
    unlimited = sum(one.limit_s is None for one in lasting)
    if expected is None:
        return _why_unknown(lasting)
    usual = any(one.usual_s is not None for one in lasting)
    limits = any(one.limit_s is not None for one in lasting)
    sources = ["usual_run_times"] * usual + ["time_limits"] * limits
    told = say("estimated_from", sources=sources) if sources else say("nothing_before")
    if latest is None and unlimited:
        return say("no_later_bound", what=told, n=unlimited, n_all=len(lasting))
    return told


def _why_unknown(lasting: Sequence[Known]) -> Message:
    unheard = sum(one.limit_s is None and one.usual_s is None for one in lasting)
    if unheard:
        return say("no_estimate_unlimited", n=unheard, n_all=len(lasting))
    if len(lasting) > MOST_STEPS:
        return say("no_estimate_many", n=len(lasting))
    return say("no_estimate_by_ends")
