"""How an attempt ends: what the end of a task means for the job, and what comes after."""

from __future__ import annotations

from dataclasses import dataclass, replace

from footplate.domain.events import Effect, RemoveJob, Reschedule, StopTasks
from footplate.domain.failures import OWN, TRANSIENT, Failure, Verdict, judge
from footplate.domain.job import Job, Next, Task
from footplate.domain.kinds import show_duration, show_instant
from footplate.domain.pauses import N_PROMPT_AFTER_SHORT, count_short
from footplate.domain.states import JobState, Reason, ReasonCode, TaskState


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an event made of a job."""

    job: Job
    effects: tuple[Effect, ...] = ()


def weigh(job: Job, role_name: str, failure: Failure | None, at: float) -> Outcome:
    """Decide after the end of a task whether the attempt is over; `failure` is that task's, if any."""
    if job.state is JobState.STOPPING:
        return Outcome(job)
    role = job.spec.role(role_name)
    first = job.position(role_name, 0)
    tasks = job.tasks[first : first + role.count]
    least_failed, least_succeeded = role.completion.min_failed, role.completion.min_succeeded
    if least_failed is not None and failure is not None:
        failed = [task for task in tasks if task.has_failed]
        if len(failed) >= least_failed:
            return fail(job, replace(failure, reason=_why_failed(failed, len(tasks))), at)
    if least_succeeded is not None:
        n_succeeded = sum(task.has_succeeded for task in tasks)
        if n_succeeded >= least_succeeded:
            message = f"{n_succeeded} of {len(tasks)} {role.name} tasks succeeded, as many as the job needs"
            details = {"role": role.name, "n_succeeded": n_succeeded, "n_tasks": len(tasks)}
            return end(job, Next(JobState.SUCCEEDED, Reason(ReasonCode.COMPLETED, message, details)), at)
    if all(task.state.is_over for task in job.tasks):
        reason = Reason(ReasonCode.COMPLETED, "all tasks are done")
        return end(job, Next(JobState.SUCCEEDED, reason), at)
    return Outcome(job)


def _why_failed(failed: list[Task], n_tasks: int) -> Reason:
    first = min(failed, key=lambda task: (task.finished_at or 0, task.index))
    details = {"task": first.name, "exit_code": first.exit_code, "n_failed": len(failed), "n_tasks": n_tasks}
    if first.detail:
        details["detail"] = first.detail
    return replace(describe_failure(first), details=details)


def describe_failure(task: Task) -> Reason:
    """Say how a task failed."""
    if task.state is TaskState.LOST:
        return Reason(ReasonCode.TASK_LOST, f"task {task.name} was lost: {task.detail}")
    code = task.exit_code
    by_signal = f" (signal {code - 128})" if code is not None and code > 128 else ""
    detail = f": {task.detail}" if task.detail else ""
    kind = ReasonCode.OUT_OF_MEMORY if task.cause == "oom" else ReasonCode.TASK_FAILED
    return Reason(kind, f"task {task.name} exited with code {code}{by_signal}{detail}")


def fail(job: Job, failure: Failure, at: float) -> Outcome:
    """End an attempt that has failed: try again, keep what failed for a look inside, or let it go."""
    verdict = judge(job.spec, failure, job.uses)
    if verdict.retries:
        return _retry(job, failure, verdict, at)
    reason = _why_no_retry(failure.reason, verdict)
    if job.spec.keep_on_failure_s is not None and any(task.has_failed for task in job.tasks):
        return _keep(job, reason, at)
    following = Next(JobState.FAILED, reason)
    if all(task.state.is_over for task in job.tasks):
        return finish(job, following, at)
    return stop(job, following)


def _retry(job: Job, failure: Failure, verdict: Verdict, at: float) -> Outcome:
    again = verdict.used + 1
    whose = {OWN: "retry", TRANSIENT: "retry after a fault of the platform"}.get(
        verdict.account, f"retry by {verdict.account}"
    )
    message = f"{failure.reason.message}; {whose} {again} of {verdict.most}"
    details = {
        **failure.reason.details,
        "cause": failure.reason.code.value,
        "class": verdict.failure_class,
        "account": verdict.account,
        "retry": again,
        "retries": verdict.most,
    }
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


def _why_no_retry(reason: Reason, verdict: Verdict) -> Reason:
    details: dict[str, object] = {**reason.details, "class": verdict.failure_class}
    if verdict.most:
        details["tries"] = verdict.most + 1
        return replace(reason, message=f"{reason.message}; tried {verdict.most + 1} times", details=details)
    return replace(reason, details=details)


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
    keeping = replace(
        job, state=JobState.STOPPING, reason=told, next=Next(JobState.FAILED, reason), kept_until=until
    )
    return Outcome(keeping, (StopTasks(job.attempt, job.spec.grace_s, kept),))


def end(job: Job, following: Next, at: float) -> Outcome:
    """End the attempt: at once when nothing runs, else through STOPPING."""
    if all(task.state.is_over for task in job.tasks):
        return finish(job, following, at)
    return stop(job, following)


def stop(job: Job, following: Next, grace_s: float | None = None) -> Outcome:
    stopping = replace(job, state=JobState.STOPPING, reason=following.reason, next=following)
    return Outcome(stopping, (StopTasks(job.attempt, job.grace_s if grace_s is None else grace_s),))


def finish(job: Job, following: Next, at: float) -> Outcome:
    finished = replace(
        job,
        state=following.state,
        reason=following.reason,
        next=None,
        placement=None,
        not_before=None,
        kept_until=None,
        finished_at=at,
    )
    effects: tuple[Effect, ...] = (Reschedule(),)
    return Outcome(finished, (*effects, RemoveJob()) if job.is_deleting else effects)
