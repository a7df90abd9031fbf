"""What becomes of a job that is stopped, preempted or released, until nothing of it runs any more."""

from __future__ import annotations

from dataclasses import replace

from footplate.domain.ending import STOPPED, Outcome, end, fail, finish, stop
from footplate.domain.events import (
    Hung,
    LaunchFailed,
    OthersGone,
    Preempted,
    Released,
    Reschedule,
    StopAsked,
    StopTasks,
    TasksGone,
)
from footplate.domain.failures import Failure
from footplate.domain.job import Job, Next, fresh_tasks
from footplate.domain.kinds import show_instant
from footplate.domain.messages import say
from footplate.domain.pauses import Pauses
from footplate.domain.states import JobState, Reason, ReasonCode, TaskState

S = JobState


def fail_launch(job: Job, event: LaunchFailed) -> Outcome:
    """Stop what a failed launch may have started, to try again or to fail."""
    # In a job that runs, that was the launch of a task that is to be started again, or nothing was to do.
    is_due = job.is_handed_over or any(task.state is TaskState.STARTING for task in job.tasks)
    if job.state is S.STOPPING or not is_due:
        return Outcome(job)
    reason = Reason(ReasonCode.LAUNCH_FAILED, event.said)
    outcome = fail(job, Failure(reason, cause="rejected" if event.is_final else "launch"), event.at)
    # Some tasks may have started all the same: only a stop makes sure that none runs.
    return outcome if outcome.job.state is S.STOPPING else stop(job, Next(S.FAILED, outcome.job.reason))


def ask_stop(job: Job, event: StopAsked) -> Outcome:
    """Stop a job, or end it at once where nothing of it runs."""
    following = Next(S.STOPPED, event.reason, grace_s=event.grace_s)
    if job.state is S.QUEUED and not job.is_handed_over:
        return finish(job, following, event.at)
    if job.is_kept:
        return release(job, Released(event.at, event.by))
    return _hasten(job, following) if job.state is S.STOPPING else stop(job, following)


def _hasten(job: Job, asked: Next) -> Outcome:
    """Cancel the retry that a stop would lead to; an end that is decided stands, and may come sooner."""
    decided = job.next
    assert decided is not None
    following, stopping = decided, job
    if decided.state is S.QUEUED:
        following = replace(asked, grace_s=decided.grace_s)
        stopping = replace(job, next=following, reason=asked.reason)
    given_s = job.spec.grace_s if decided.grace_s is None else decided.grace_s
    grace_s = job.grace_s if asked.grace_s is None else asked.grace_s
    if grace_s >= given_s:
        return Outcome(stopping)
    hastened = replace(stopping, next=replace(following, grace_s=grace_s))
    return Outcome(hastened, (StopTasks(job.attempt, grace_s),))


def release(job: Job, _event: Released) -> Outcome:
    """Give up the environment that was kept after a failure."""
    if not job.is_kept or job.next is None:
        return Outcome(job)
    released = replace(job, kept_until=None, reason=job.next.reason)
    return Outcome(released, (StopTasks(job.attempt, job.grace_s),))


def preempt(job: Job, event: Preempted) -> Outcome:
    """Stop a job that goes back to the queue."""
    return Outcome(job) if job.state is S.STOPPING else stop(job, Next(S.QUEUED, event.reason))


def end_hang(job: Job, event: Hung) -> Outcome:
    """Stop a job that hangs, to try again or to fail."""
    reason = Reason(ReasonCode.HANG, event.said)
    policy = job.spec.hang
    if policy is not None and policy.action == "restart":
        return fail(job, Failure(reason, cause="hang"), event.at)
    return end(job, Next(S.FAILED, reason), event.at)


def go_on(job: Job, event: TasksGone) -> Outcome:
    """Lead a job whose tasks are gone to where it was to go."""
    if job.is_kept:
        # That was the end of the others: what is kept stays until it is released.
        return Outcome(job)
    following = job.next
    assert following is not None, f"job {job.id} stops and leads nowhere"
    tasks = tuple(
        task
        if task.state.is_over
        else replace(task, state=TaskState.EXITED, detail=STOPPED, finished_at=event.at)
        for task in job.tasks
    )
    ended = replace(job, tasks=tasks)
    if following.state is not S.QUEUED:
        return finish(ended, following, event.at)
    reason, not_before = _pause(following, event.at, event.pauses)
    again = replace(
        job,
        state=S.QUEUED,
        reason=reason,
        not_before=not_before,
        next=None,
        placement=None,
        attempt=job.attempt + 1,
        tasks=fresh_tasks(job.spec),
        queued_at=event.at,
        started_at=None,
        running_at=None,
    )
    return Outcome(again, (Reschedule(),))


def give_back(job: Job, _event: OthersGone) -> Outcome:
    """Free the places of all tasks but those that are kept."""
    placement, kept = job.placement, job.kept
    if not kept or placement is None:
        return Outcome(job)
    tasks = tuple(replace(one, is_given_back=(one.role, one.index) not in kept) for one in placement.tasks)
    if tasks == placement.tasks:
        return Outcome(job)
    return Outcome(replace(job, placement=replace(placement, tasks=tasks)), (Reschedule(),))


def _pause(following: Next, at: float, pauses: Pauses) -> tuple[Reason, float | None]:
    """Say why a job waits to be tried again, and until when it pauses, if it does."""
    reason, pause_s = following.reason, pauses.length_s(following.pause)
    if not pause_s:
        return reason, None
    until = at + pause_s
    said = say("retried_later", why=reason.said, not_before=show_instant(until))
    return Reason(ReasonCode.RETRY_LATER, said, {**reason.facts, "pause_s": pause_s}), until
