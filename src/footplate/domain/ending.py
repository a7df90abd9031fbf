"""How an attempt ends: what the end of a task means for the job, and what comes after."""

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
from footplate.domain.kinds import show_duration, show_instant
from footplate.domain.pauses import N_PROMPT_AFTER_SHORT, count_short
from footplate.domain.spec import RoleSpec
from footplate.domain.states import JobState, Reason, ReasonCode, TaskState


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
    message = f"{n_succeeded} of {role.count} {role.name} tasks succeeded, as many as the job needs"
    details = {"role": role.name, "n_succeeded": n_succeeded, "n_tasks": role.count}
    return Reason(ReasonCode.COMPLETED, message, details)


def _why_done(tasks: Sequence[Task]) -> Reason:
    n_failed = sum(task.has_failed for task in tasks)
    if not n_failed:
        return Reason(ReasonCode.COMPLETED, "all tasks are done")
    message = f"all tasks are done; {n_failed} of {len(tasks)} failed, which does not fail the job"
    return Reason(ReasonCode.COMPLETED, message, {"n_failed": n_failed, "n_tasks": len(tasks)})


def _why_failed(last: Task, role: RoleSpec, n_failed: int) -> Reason:
    """Say how the task failed that decided it, and how many of its role had before."""
    details: dict[str, object] = {
        "task": last.name,
        "exit_code": last.exit_code,
        "n_failed": n_failed,
        "n_tasks": role.count,
    }
    if last.detail:
        details["detail"] = last.detail
    reason, least = describe_failure(last), role.completion.min_failed
    if n_failed == 1:
        return replace(reason, details=details)
    message = f"{n_failed} of {role.count} tasks of role {role.name} failed (min_failed {least})"
    details |= {"role": role.name, "min_failed": least}
    return replace(reason, message=f"{message}; the last: {reason.message}", details=details)


def describe_failure(task: Task) -> Reason:
    """Say how a task failed."""
    if task.state is TaskState.LOST:
        return Reason(ReasonCode.TASK_LOST, f"task {task.name} was lost: {task.detail}")
    code = task.exit_code
    by = signal_of(code)
    by_signal = "" if by is None else f" (signal {by.value})"
    detail = f": {task.detail}" if task.detail else ""
    kind = ReasonCode.OUT_OF_MEMORY if task.cause == "oom" else ReasonCode.TASK_FAILED
    return Reason(kind, f"task {task.name} exited with code {code}{by_signal}{detail}")


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
    message = f"{failure.reason.message}; retry"
    if verdict.account == TRANSIENT:
        message += " after a fault of the platform"
    message += f" {again} of {verdict.most}"
    if verdict.rule:
        message += f" by rule {verdict.rule} of on_failure"
    details = {
        **failure.reason.details,
        "cause": failure.reason.code.value,
        "class": verdict.failure_class,
        "account": verdict.account,
        "retry": again,
        "retries": verdict.most,
    }
    if verdict.rule:
        details["rule"] = verdict.rule
    avoids = job.avoids
    if verdict.avoids and verdict.avoids not in avoids:
        avoids = (*avoids, verdict.avoids)
        message += f", away from node {verdict.avoids}"
        details["avoids"] = verdict.avoids
    uses, n_short = {**job.uses, verdict.account: again}, job.n_short_lived
    if verdict.account == TRANSIENT:
        # The first comes at once: what was lost once is mostly there again.
        pause = verdict.used
    else:
        n_short = count_short(n_short, job.running_at, at)
        pause = max(0, n_short - N_PROMPT_AFTER_SHORT)
    retried = replace(job, uses=uses, avoids=avoids, n_short_lived=n_short)
    return stop(retried, Next(JobState.QUEUED, Reason(ReasonCode.RETRYING, message, details), pause))


def _why_no_retry(failure: Failure, verdict: Verdict, n_left: int) -> Reason:
    """Add why a failure is the last one; `n_left` are the job's own retries that were not used."""
    reason = failure.reason
    details: dict[str, object] = {**reason.details, "class": verdict.failure_class}
    why = ""
    if verdict.rule:
        details |= {"rule": verdict.rule, "rule_times": verdict.most}
        rule = f"rule {verdict.rule} of on_failure"
        why = f"{rule}: tried {verdict.used} of {verdict.most} times" if verdict.account else f"{rule}: stop"
    elif verdict.most:
        details["tries"] = verdict.most + 1
        why = f"tried {verdict.most + 1} times"
    elif verdict.failure_class is FailureClass.PERMANENT and n_left > 0:
        details["retries_left"] = n_left
        why = f"not tried again, since it would only repeat itself: {_why_permanent(failure)}"
    return replace(reason, message=f"{reason.message}; {why}" if why else reason.message, details=details)


def _why_permanent(failure: Failure) -> str:
    return CANNOT_EXECUTE.get(failure.exit_code or 0, "the platform cannot start what the job asks for")


def _keep(job: Job, reason: Reason, at: float) -> Outcome:
    keep_s = job.spec.keep_on_failure_s
    assert keep_s is not None
    until = at + keep_s
    kept = tuple((task.role, task.index) for task in job.tasks if task.has_failed)
    told = Reason(
        ReasonCode.KEPT,
        f"{reason.message}; kept for {show_duration(keep_s)}, until {show_instant(until)}, for a look inside",
        {**reason.details, "cause": reason.code.value, "kept_until": show_instant(until)},
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
