"""When a job must stop because its time is over."""

from __future__ import annotations

from footplate.domain.events import Released, StopAsked
from footplate.domain.job import Job
from footplate.domain.kinds import show_instant
from footplate.domain.messages import say
from footplate.domain.states import JobState, Reason, ReasonCode


def overdue(job: Job, now: float) -> StopAsked | Released | None:
    """Say that a job must stop or give up what was kept, when it must."""
    if job.kept_until is not None and now >= job.kept_until:
        return Released(now)
    if job.state.is_final or job.state is JobState.STOPPING:
        return None
    deadline_at, limit_s = job.spec.deadline_at, job.spec.time_limit_s
    if deadline_at is not None and now >= deadline_at:
        return StopAsked(
            now, Reason(ReasonCode.DEADLINE, say("deadline_over", deadline=show_instant(deadline_at)))
        )
    since = job.running_at or job.started_at
    if job.state.holds_resources and limit_s is not None and since is not None and now >= since + limit_s:
        return StopAsked(now, Reason(ReasonCode.TIME_LIMIT, say("time_limit_over", time_limit_s=limit_s)))
    return None
