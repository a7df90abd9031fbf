"""What becomes of a job when its tasks are placed, start, end, are lost or make no progress."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from footplate.domain.ending import Outcome, describe_failure, weigh
from footplate.domain.events import (
    HandedOver,
    HangSeen,
    LaunchTasks,
    Placed,
    ProgressSeen,
    TaskExited,
    TaskLost,
    TaskStarted,
)
from footplate.domain.failures import Failure, FailureClass, Verdict, judge
from footplate.domain.job import Job, Task
from footplate.domain.kinds import show_instant
from footplate.domain.messages import say
from footplate.domain.pauses import N_PROMPT_AFTER_SHORT, count_short
from footplate.domain.states import JobState, Reason, ReasonCode, TaskState

S = JobState


def place(job: Job, event: Placed) -> Outcome:
    """Give every task its place, and ask for the launch."""
    places = {(place.role, place.index): place for place in event.placement.tasks}
    tasks = tuple(
        replace(
            task,
            state=TaskState.STARTING,
            node=place.node,
            address=place.address,
            gpus=place.gpus,
            ports=place.ports,
        )
        for task in job.tasks
        if (place := places[task.role, task.index])
    )
    placed = replace(
        job,
        state=S.STARTING,
        reason=_why_starting(job),
        placement=event.placement,
        tasks=tasks,
        not_before=None,
        started_at=event.at,
        running_at=None,
    )
    return Outcome(placed, (LaunchTasks(job.attempt),))


def hand_over(job: Job, event: HandedOver) -> Outcome:
    """Have a job launched that waits for its place in the engine."""
    handed = replace(job, reason=event.reason, placement=event.placement, not_before=None)
    return Outcome(handed, (LaunchTasks(job.attempt),))


def _begun(job: Job, at: float) -> Job:
    """Take a job that waited with an engine for started, at the first news of its tasks."""
    if not job.is_handed_over:
        return job
    tasks = tuple(replace(task, state=TaskState.STARTING) for task in job.tasks)
    return replace(job, state=S.STARTING, reason=_why_starting(job), tasks=tasks, started_at=at)


def _why_starting(job: Job) -> Reason:
    return Reason(ReasonCode.PREPARING, say("starting_tasks", n_tasks=len(job.tasks)))


def _with_task(job: Job, event: TaskStarted | TaskExited | TaskLost, **changes: Any) -> Job | None:
    """Change one task; None when it is over already, so that the first word about an end stands.

    None also for news of an earlier run of the task.
    """
    position = job.position(event.role, event.index)
    task = job.tasks[position]
    if task.state.is_over or event.run != task.run:
        return None
    changed = replace(task, not_before=None, **changes)
    return replace(job, tasks=(*job.tasks[:position], changed, *job.tasks[position + 1 :]))


def start_task(job: Job, event: TaskStarted) -> Outcome:
    """Note that a task runs; the job runs once all have started."""
    job = _begun(job, event.at)
    if job.task(event.role, event.index).state is TaskState.RUNNING:
        return Outcome(job)
    found = event.where.changes() if event.where is not None else {}
    changed = _with_task(job, event, state=TaskState.RUNNING, started_at=event.at, detail=None, **found)
    if changed is None:
        return Outcome(job)
    if event.where is not None and changed.placement is not None:
        placement = changed.placement.found_at(event.role, event.index, event.where)
        changed = replace(changed, placement=placement)
    return Outcome(_run_when_all_started(changed, event.at))


def _run_when_all_started(job: Job, at: float) -> Job:
    if job.state is not S.STARTING or any(task.started_at is None for task in job.tasks):
        return job
    # Starts are not always seen in their order.
    running_at = max(at, *(task.started_at or at for task in job.tasks))
    return replace(job, state=S.RUNNING, reason=_why_running(job), running_at=running_at)


def _why_running(job: Job) -> Reason:
    n_tasks = len(job.tasks)
    return Reason(ReasonCode.RUNNING, say("tasks_run" if n_tasks > 1 else "task_runs", n_tasks=n_tasks))


def exit_task(job: Job, event: TaskExited) -> Outcome:
    """Note the end of a task, and weigh what it means for the job."""
    job = _begun(job, event.at)
    started = job.task(event.role, event.index).started_at
    changed = _with_task(
        job,
        event,
        state=TaskState.EXITED,
        exit_code=event.exit_code,
        detail=event.detail,
        cause=_cause(job, event.cause),
        started_at=event.at if started is None else started,
        finished_at=event.at,
        n_short_lived=_count_short_runs(job, event),
    )
    if changed is None:
        return Outcome(job)
    changed = _run_when_all_started(changed, event.at)
    task = changed.task(event.role, event.index)
    failure = (
        Failure(describe_failure(task), event.exit_code, event.cause, event.found, task.node)
        if task.has_failed
        else None
    )
    return _retry_task(changed, task, failure, event) or weigh(changed, task, failure, event.at)


def lose_task(job: Job, event: TaskLost) -> Outcome:
    """Note that a task can no longer be found, and weigh what it means for the job."""
    job = _begun(job, event.at)
    changed = _with_task(
        job,
        event,
        state=TaskState.LOST,
        detail=event.detail,
        cause=_cause(job, event.cause),
        finished_at=event.at,
        n_short_lived=_count_short_runs(job, event),
    )
    if changed is None:
        return Outcome(job)
    task = changed.task(event.role, event.index)
    failure = Failure(describe_failure(task), cause=event.cause, node=task.node)
    return _retry_task(changed, task, failure, event) or weigh(changed, task, failure, event.at)


def _cause(job: Job, cause: str) -> str:
    """Say what ended a task: while its job is being stopped, the stop did, whatever the exit code."""
    return "stopped" if job.state is S.STOPPING else cause


def _count_short_runs(job: Job, event: TaskExited | TaskLost) -> int:
    task = job.task(event.role, event.index)
    # One that was never seen to run has the start of its run before.
    running_at = task.started_at if task.state is TaskState.RUNNING else None
    return count_short(task.n_short_lived, running_at, event.at)


def _retry_task(
    job: Job, task: Task, failure: Failure | None, event: TaskExited | TaskLost
) -> Outcome | None:
    """Start a failed task again by itself, where its role wants that and it can help."""
    if failure is None or job.state is S.STOPPING or task.run >= job.spec.role(task.role).task_retry:
        return None
    verdict = judge(job.spec, failure, job.uses)
    if not _helps(job, verdict):
        return None
    uses = {**job.uses, verdict.account: verdict.used + 1} if verdict.rule else job.uses
    pause_s = event.pauses.length_s(task.n_short_lived - N_PROMPT_AFTER_SHORT)
    not_before = event.at + pause_s if pause_s else None
    position = job.position(task.role, task.index)
    again = replace(
        task,
        state=TaskState.STARTING,
        run=task.run + 1,
        exit_code=None,
        detail=None
        if not_before is None
        else say("started_again_later", not_before=show_instant(not_before)),
        cause="",
        log_start=event.log_bytes,
        not_before=not_before,
        finished_at=None,
    )
    retried = replace(job, tasks=(*job.tasks[:position], again, *job.tasks[position + 1 :]), uses=uses)
    return Outcome(retried, (LaunchTasks(job.attempt),))


def _helps(job: Job, verdict: Verdict) -> bool:
    """Say whether a failed task can be helped by being started again where it is."""
    if not verdict.rule:
        return verdict.failure_class is not FailureClass.PERMANENT
    # A rule that wants it elsewhere is not served by the same place: the whole job goes.
    return verdict.retries and job.spec.on_failure[verdict.rule - 1].action == "retry"


def note_hang(job: Job, event: HangSeen) -> Outcome:
    """Say that tasks make no progress."""
    return Outcome(replace(job, reason=event.reason))


def note_progress(job: Job, _event: ProgressSeen) -> Outcome:
    """Say that there is progress again."""
    hung = job.reason.code is ReasonCode.HANG
    return Outcome(replace(job, reason=_why_running(job)) if hung else job)
