"""`advance`, the only function that changes the state of a job: a table of moves, and a rule per event.

`advance` is a pure function: a job and an event in, the new job and the effects to carry out back.
`MOVES` says, for every state and every kind of event, which states may follow; the picture in the
docs is drawn from it. News of an attempt that is over, and repeated news, change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from footplate.domain.ending import STOPPED, Outcome, describe_failure, end, fail, finish, stop, weigh
from footplate.domain.errors import InvalidTransition
from footplate.domain.events import (
    DeleteAsked,
    Edited,
    Event,
    HangSeen,
    Hung,
    LaunchFailed,
    LaunchTasks,
    OthersGone,
    Placed,
    Preempted,
    ProgressSeen,
    Refused,
    Released,
    RemoveJob,
    Reschedule,
    Restored,
    StopAsked,
    StopTasks,
    TaskExited,
    TaskLost,
    TasksGone,
    TaskStarted,
    WaitExplained,
)
from footplate.domain.failures import Failure, FailureClass, Verdict, judge
from footplate.domain.job import Job, Next, Task, fresh_tasks
from footplate.domain.kinds import show_instant
from footplate.domain.messages import Message, say
from footplate.domain.pauses import N_PROMPT_AFTER_SHORT, Pauses, count_short
from footplate.domain.states import FINAL_STATES, JobState, Reason, ReasonCode, TaskState

S = JobState
_ENDS = frozenset({S.SUCCEEDED, S.FAILED, S.STOPPED})
_HELD = (S.STARTING, S.RUNNING, S.STOPPING)

# (state, event) -> the states that may follow. A pair that is absent is an error of ours.
MOVES: Mapping[tuple[JobState, type], frozenset[JobState]] = {
    (S.QUEUED, Placed): frozenset({S.STARTING}),
    (S.QUEUED, StopAsked): frozenset({S.STOPPED, S.FAILED}),
    (S.QUEUED, Refused): frozenset({S.FAILED}),
    (S.QUEUED, WaitExplained): frozenset({S.QUEUED}),
    (S.STARTING, TaskStarted): frozenset({S.STARTING, S.RUNNING}),
    (S.STARTING, LaunchFailed): frozenset({S.STOPPING}),
    (S.RUNNING, TaskStarted): frozenset({S.RUNNING}),
    (S.RUNNING, LaunchFailed): frozenset({S.RUNNING, S.STOPPING}),
    (S.STOPPING, TaskStarted): frozenset({S.STOPPING}),
    (S.STOPPING, LaunchFailed): frozenset({S.STOPPING}),
    (S.STOPPING, Preempted): frozenset({S.STOPPING}),
    (S.STOPPING, TasksGone): _ENDS | {S.QUEUED, S.STOPPING},
    (S.STOPPING, OthersGone): frozenset({S.STOPPING}),
    (S.STOPPING, Released): frozenset({S.STOPPING}),
    (S.STARTING, Hung): frozenset({S.STOPPING}),
    (S.RUNNING, Hung): frozenset({S.STOPPING}),
    (S.RUNNING, HangSeen): frozenset({S.RUNNING}),
    (S.RUNNING, ProgressSeen): frozenset({S.RUNNING}),
    **{(state, Restored): frozenset({state}) for state in FINAL_STATES},
    (S.STARTING, TaskExited): frozenset({S.STARTING, S.RUNNING, S.STOPPING, S.SUCCEEDED, S.FAILED}),
    (S.RUNNING, TaskExited): frozenset({S.RUNNING, S.STOPPING, S.SUCCEEDED, S.FAILED}),
    **{
        (state, TaskLost): frozenset({state, S.STOPPING, S.SUCCEEDED, S.FAILED})
        for state in (S.STARTING, S.RUNNING)
    },
    **{(S.STOPPING, kind): frozenset({S.STOPPING}) for kind in (TaskExited, TaskLost)},
    **{(state, StopAsked): frozenset({S.STOPPING}) for state in _HELD},
    **{(state, Preempted): frozenset({S.STOPPING}) for state in (S.STARTING, S.RUNNING)},
    **{(state, Edited): frozenset({state}) for state in S},
    **{(state, DeleteAsked): frozenset({S.STOPPING}) for state in _HELD},
    (S.QUEUED, DeleteAsked): frozenset({S.STOPPED}),
    **{(state, DeleteAsked): frozenset({state}) for state in FINAL_STATES},
}

# News of how tasks do, which is gathered outside of any transaction.
_HANGS = (Hung, HangSeen, ProgressSeen)
_NEWS = (TaskStarted, TaskExited, TaskLost, LaunchFailed, TasksGone, OthersGone, *_HANGS)
# What may come late, or twice, in the very attempt that it speaks of, and then means nothing: a task's end
# after its job's, progress of a job that is stopped by now. Whoever asks for a move looks first whether it
# can be; what the scheduler decides is for jobs that wait.
LATE = frozenset(
    {
        *((state, kind) for state in FINAL_STATES for kind in _NEWS),
        *((S.STOPPING, kind) for kind in _HANGS),
    }
)


def advance(job: Job, event: Event) -> Outcome:
    """Apply an event; raise `InvalidTransition` for a move that the table does not know."""
    attempt, pair = getattr(event, "attempt", job.attempt), (job.state, type(event))
    allowed = MOVES.get(pair)
    if attempt < job.attempt or pair in LATE:
        return Outcome(job)
    if allowed is None or attempt > job.attempt:
        raise InvalidTransition(_story(job, event))
    outcome = _RULES[type(event)](job, event)
    if outcome.job.state not in allowed:
        raise InvalidTransition(_story(job, event, outcome.job.state))
    return outcome


def _story(job: Job, event: Event, led_to: JobState | None = None) -> Message:
    return say(
        "invalid_transition",
        job=job.id,
        state=job.state.value,
        attempt=job.attempt,
        reason=job.reason.code.value,
        why=job.reason.said,
        tasks=[f"{task.name} {task.state}" for task in job.tasks[:20]],
        event=repr(event),
        led_to=led_to,
    )


def _place(job: Job, event: Placed) -> Outcome:
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
    reason = Reason(ReasonCode.PREPARING, say("starting_tasks", n_tasks=len(tasks)))
    placed = replace(
        job,
        state=S.STARTING,
        reason=reason,
        placement=event.placement,
        tasks=tasks,
        not_before=None,
        started_at=event.at,
        running_at=None,
    )
    return Outcome(placed, (LaunchTasks(job.attempt),))


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


def _start_task(job: Job, event: TaskStarted) -> Outcome:
    if job.task(event.role, event.index).state is TaskState.RUNNING:
        return Outcome(job)
    changed = _with_task(job, event, state=TaskState.RUNNING, started_at=event.at, detail=None)
    return Outcome(job) if changed is None else Outcome(_run_when_all_started(changed, event.at))


def _run_when_all_started(job: Job, at: float) -> Job:
    if job.state is not S.STARTING or any(task.started_at is None for task in job.tasks):
        return job
    # Starts are not always seen in their order.
    running_at = max(at, *(task.started_at or at for task in job.tasks))
    return replace(job, state=S.RUNNING, reason=_why_running(job), running_at=running_at)


def _why_running(job: Job) -> Reason:
    n_tasks = len(job.tasks)
    return Reason(ReasonCode.RUNNING, say("tasks_run" if n_tasks > 1 else "task_runs", n_tasks=n_tasks))


def _exit_task(job: Job, event: TaskExited) -> Outcome:
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


def _lose_task(job: Job, event: TaskLost) -> Outcome:
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


def _fail_launch(job: Job, event: LaunchFailed) -> Outcome:
    # In a job that runs, that was the launch of a task that is to be started again, or nothing was to do.
    if job.state is S.STOPPING or not any(task.state is TaskState.STARTING for task in job.tasks):
        return Outcome(job)
    reason = Reason(ReasonCode.LAUNCH_FAILED, event.said)
    outcome = fail(job, Failure(reason, cause="rejected" if event.is_final else "launch"), event.at)
    # Some tasks may have started all the same: only a stop makes sure that none runs.
    return outcome if outcome.job.state is S.STOPPING else stop(job, Next(S.FAILED, outcome.job.reason))


def _ask_stop(job: Job, event: StopAsked) -> Outcome:
    never_ran = job.state is S.QUEUED and event.reason.code is ReasonCode.DEADLINE
    following = Next(S.FAILED if never_ran else S.STOPPED, event.reason, grace_s=event.grace_s)
    if job.state is S.QUEUED:
        return finish(job, following, event.at)
    if job.is_kept:
        return _release(job, Released(event.at, event.by))
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


def _release(job: Job, _event: Released) -> Outcome:
    if not job.is_kept or job.next is None:
        return Outcome(job)
    released = replace(job, kept_until=None, reason=job.next.reason)
    return Outcome(released, (StopTasks(job.attempt, job.grace_s),))


def _preempt(job: Job, event: Preempted) -> Outcome:
    return Outcome(job) if job.state is S.STOPPING else stop(job, Next(S.QUEUED, event.reason))


def _end_hang(job: Job, event: Hung) -> Outcome:
    reason = Reason(ReasonCode.HANG, event.said)
    policy = job.spec.hang
    if policy is not None and policy.action == "restart":
        return fail(job, Failure(reason, cause="hang"), event.at)
    return end(job, Next(S.FAILED, reason), event.at)


def _note_hang(job: Job, event: HangSeen) -> Outcome:
    return Outcome(replace(job, reason=event.reason))


def _note_progress(job: Job, _event: ProgressSeen) -> Outcome:
    hung = job.reason.code is ReasonCode.HANG
    return Outcome(replace(job, reason=_why_running(job)) if hung else job)


def _go_on(job: Job, event: TasksGone) -> Outcome:
    if job.is_kept:
        # That was the end of the others: what is kept stays until it is released.
        return Outcome(job)
    following = job.next
    assert following is not None, _story(job, event)
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


def _give_back(job: Job, _event: OthersGone) -> Outcome:
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


def _refuse(job: Job, event: Refused) -> Outcome:
    return finish(job, Next(S.FAILED, event.reason), event.at)


def _explain_wait(job: Job, event: WaitExplained) -> Outcome:
    return Outcome(replace(job, reason=event.reason))


def _edit(job: Job, event: Edited) -> Outcome:
    wanted = {"name": event.name, "description": event.description, "priority": event.priority}
    changes: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    edited = replace(job, spec=replace(job.spec, **changes))
    return Outcome(edited, (Reschedule(),) if event.priority is not None and job.state is S.QUEUED else ())


def _delete(job: Job, event: DeleteAsked) -> Outcome:
    since = event.at if job.deleted_at is None else job.deleted_at
    deleting = replace(job, deleted_at=since, is_deleting=job.is_deleting or event.for_good)
    if job.state in FINAL_STATES:
        return Outcome(deleting, (RemoveJob(),) if deleting.is_deleting else ())
    reason = Reason(ReasonCode.DELETED, say("deleted_by", by=event.by))
    return _ask_stop(deleting, StopAsked(event.at, reason, event.by))


def _restore(job: Job, _event: Restored) -> Outcome:
    return Outcome(job if job.is_deleting else replace(job, deleted_at=None))


_RULES: Mapping[type, Callable[[Job, Any], Outcome]] = {
    Placed: _place,
    TaskStarted: _start_task,
    TaskExited: _exit_task,
    TaskLost: _lose_task,
    LaunchFailed: _fail_launch,
    StopAsked: _ask_stop,
    Preempted: _preempt,
    Hung: _end_hang,
    HangSeen: _note_hang,
    ProgressSeen: _note_progress,
    Released: _release,
    TasksGone: _go_on,
    OthersGone: _give_back,
    Refused: _refuse,
    WaitExplained: _explain_wait,
    Edited: _edit,
    DeleteAsked: _delete,
    Restored: _restore,
}
