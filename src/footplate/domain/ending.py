"""How an attempt ends: what the end of a task means for the job, and what happens next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from footplate.domain.events import Effect, RemoveJob, Reschedule, StopTasks
from footplate.domain.failures import (
    CANNOT_EXECUTE,
    TRANSIENT,
    Failure,
    FailureClass,
    Verdict,
    judge,
    signal_of,
)
from footplate.domain.job import Job, Next, Task
from footplate.domain.kinds import show_instant
from footplate.domain.messages import say
from footplate.domain.pauses import N_PROMPT_AFTER_SHORT, count_short
from footplate.domain.spec import RoleSpec
from footplate.domain.states import JobState, Reason, ReasonCode, TaskState

# How a task ended that a stop ended.
STOPPED = say("task_stopped")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an event made of a job."""

    job: Job
    effects: tuple[Effect, ...] = ()


def weigh(job: Job, ended: Task, failure: Failure | None, at: float) -> Outcome:
    """Decide after the end of a task whether the attempt is over; `failure` is that task's, if any."""
    if job.state is JobState.STOPPING:
        return Outcome(job)
    role = job.spec.role(ended.role)
    first = job.position(role.name, 0)
    tasks = job.tasks[first : first + role.count]
    n_failed = sum(task.has_failed for task in tasks)
    least_failed, least_succeeded = role.completion.min_failed, role.completion.min_succeeded
    if least_failed is not None and failure is not None and n_failed >= least_failed:
        return fail(job, replace(failure, reason=_why_failed(ended, role, n_failed)), at)
    if least_succeeded is not None:
        n_succeeded = sum(task.has_succeeded for task in tasks)
        if n_succeeded >= least_succeeded:
            return end(job, Next(JobState.SUCCEEDED, _why_enough(role, n_succeeded)), at)
    if all(task.state.is_over for task in job.tasks):
        return end(job, Next(JobState.SUCCEEDED, _why_done(job.tasks)), at)
    return Outcome(job)


def _why_enough(role: RoleSpec, n_succeeded: int) -> Reason:
    said = say("enough_succeeded", role=role.name, n_succeeded=n_succeeded, n_tasks=role.count)
    return Reason(ReasonCode.COMPLETED, said)


def _why_done(tasks: Sequence[Task]) -> Reason:
    n_failed = sum(task.has_failed for task in tasks)
    if not n_failed:
        return Reason(ReasonCode.COMPLETED, say("all_done"))
    return Reason(ReasonCode.COMPLETED, say("done_with_failures", n_failed=n_failed, n_tasks=len(tasks)))


def _why_failed(last: Task, role: RoleSpec, n_failed: int) -> Reason:
    """Say how the task failed that decided it, and how many of its role had before."""
    reason = describe_failure(last)
    if n_failed == 1:
        return replace(reason, facts={"n_failed": n_failed, "n_tasks": role.count})
    said = say(
        "role_failed",
        n_failed=n_failed,
        n_tasks=role.count,
        role=role.name,
        min_failed=role.completion.min_failed,
        last=reason.said,
    )
    return replace(reason, said=said)


def describe_failure(task: Task) -> Reason:
    """Say how a task failed."""
    if task.state is TaskState.LOST:
        return Reason(ReasonCode.TASK_LOST, say("task_lost", task=task.name, detail=task.detail))
    by = signal_of(task.exit_code)
    said = say(
        "task_exited",
        task=task.name,
        exit_code=task.exit_code,
        signal=None if by is None else by.value,
        detail=task.detail,
    )
    return Reason(ReasonCode.OUT_OF_MEMORY if task.cause == "oom" else ReasonCode.TASK_FAILED, said)


def fail(job: Job, failure: Failure, at: float) -> Outcome:
    """End an attempt that has failed: try again, keep what failed for a look inside, or let it go."""
    verdict = judge(job.spec, failure, job.uses)
    if verdict.retries:
        return _retry(job, failure, verdict, at)
    reason = _why_no_retry(failure, verdict, job.spec.retry - job.retries_used)
    if job.spec.keep_on_failure_s is not None and any(task.has_failed for task in job.tasks):
        return _keep(job, reason, at)
    following = Next(JobState.FAILED, reason)
    if all(task.state.is_over for task in job.tasks):
        return finish(job, following, at)
    return stop(job, following)


def _retry(job: Job, failure: Failure, verdict: Verdict, at: float) -> Outcome:
    again = verdict.used + 1
    avoids, avoided = job.avoids, None
    if verdict.avoids and verdict.avoids not in avoids:
        avoids, avoided = (*avoids, verdict.avoids), verdict.avoids
    said = say(
        "retried_after_fault" if verdict.account == TRANSIENT else "retried",
        why=failure.reason.said,
        retry=again,
        retries=verdict.most,
        rule=verdict.rule or None,
        avoids=avoided,
    )
    facts = {
        **failure.reason.facts,
        "cause": failure.reason.code.value,
        "class": verdict.failure_class,
        "account": verdict.account,
    }
    uses, n_short = {**job.uses, verdict.account: again}, job.n_short_lived
    if verdict.account == TRANSIENT:
        # The first comes at once: what was lost once is mostly there again.
        pause = verdict.used
    else:
        n_short = count_short(n_short, job.running_at, at)
        pause = max(0, n_short - N_PROMPT_AFTER_SHORT)
    retried = replace(job, uses=uses, avoids=avoids, n_short_lived=n_short)
    return stop(retried, Next(JobState.QUEUED, Reason(ReasonCode.RETRYING, said, facts), pause))


def _why_no_retry(failure: Failure, verdict: Verdict, n_left: int) -> Reason:
    """Add why a failure is the last one; `n_left` are the job's own retries that were not used."""
    reason, said = failure.reason, failure.reason.said
    if verdict.rule and verdict.account:
        said = say("rule_used_up", why=said, rule=verdict.rule, rule_times=verdict.most)
    elif verdict.rule:
        said = say("rule_stops", why=said, rule=verdict.rule)
    elif verdict.most:
        said = say("tries_used_up", why=said, tries=verdict.most + 1)
    elif verdict.failure_class is FailureClass.PERMANENT and n_left > 0:
        said = say("not_retried", why=said, cause=say(_why_permanent(failure)), retries_left=n_left)
    return replace(reason, said=said, facts={**reason.facts, "class": verdict.failure_class})


def _why_permanent(failure: Failure) -> str:
    return CANNOT_EXECUTE.get(failure.exit_code or 0, "cannot_start_as_asked")


def _keep(job: Job, reason: Reason, at: float) -> Outcome:
    keep_s = job.spec.keep_on_failure_s
    assert keep_s is not None
    until = at + keep_s
    kept = tuple((task.role, task.index) for task in job.tasks if task.has_failed)
    told = Reason(
        ReasonCode.KEPT,
        say("kept", why=reason.said, keep_s=keep_s, kept_until=show_instant(until)),
        {**reason.facts, "cause": reason.code.value},
    )
    # The run is over now: the time for which it is kept is no part of it.
    keeping = replace(
        job,
        state=JobState.STOPPING,
        reason=told,
        next=Next(JobState.FAILED, reason),
        kept_until=until,
        finished_at=at,
    )
    return Outcome(keeping, (StopTasks(job.attempt, job.spec.grace_s, kept),))


def end(job: Job, following: Next, at: float) -> Outcome:
    """End the attempt: at once when nothing runs, else through STOPPING."""
    if all(task.state.is_over for task in job.tasks):
        return finish(job, following, at)
    return stop(job, following)


def stop(job: Job, following: Next) -> Outcome:
    stopping = replace(job, state=JobState.STOPPING, reason=following.reason, next=following)
    return Outcome(stopping, (StopTasks(job.attempt, stopping.grace_s),))


def finish(job: Job, following: Next, at: float) -> Outcome:
    finished = replace(
        job,
        state=following.state,
        reason=following.reason,
        next=None,
        placement=None,
        not_before=None,
        kept_until=None,
        finished_at=at if job.finished_at is None else job.finished_at,
    )
    effects: tuple[Effect, ...] = (Reschedule(),)
    return Outcome(finished, (*effects, RemoveJob()) if job.is_deleting else effects)
