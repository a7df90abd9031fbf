"""A job, and the one door through which its state changes.

`advance` is a pure function: a job and an event in, the new job and the effects to carry out back.
`MOVES` says, for every state and every kind of event, which states may follow; the picture in the
docs is drawn from it. News of an attempt that is over, and repeated news, change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from footplate.domain.cluster import Placement
from footplate.domain.errors import InvalidTransition
from footplate.domain.events import (
    DeleteAsked,
    Edited,
    Effect,
    Event,
    LaunchFailed,
    LaunchTasks,
    Placed,
    Preempted,
    Refused,
    RemoveJob,
    Reschedule,
    StopAsked,
    StopTasks,
    TaskExited,
    TaskLost,
    TasksGone,
    TaskStarted,
    WaitExplained,
)
from footplate.domain.spec import JobSpec
from footplate.domain.states import FINAL_STATES, JobState, Reason, ReasonCode, TaskState


@dataclass(frozen=True, slots=True)
class Task:
    """One task of the current attempt."""

    role: str
    index: int
    state: TaskState = TaskState.WAITING
    node: str = ""
    address: str = ""
    gpus: tuple[int, ...] = ()
    ports: tuple[tuple[str, tuple[int, ...]], ...] = ()
    exit_code: int | None = None
    detail: str = ""
    started_at: float | None = None
    finished_at: float | None = None

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"

    @property
    def has_failed(self) -> bool:
        return self.state is TaskState.LOST or (self.state is TaskState.EXITED and self.exit_code != 0)

    @property
    def has_succeeded(self) -> bool:
        return self.state is TaskState.EXITED and self.exit_code == 0


@dataclass(frozen=True, slots=True)
class Next:
    """Where a stopping job goes once nothing of it runs any more."""

    state: JobState
    reason: Reason


JUST_SUBMITTED = Reason(ReasonCode.SUBMITTED, "just submitted; not looked at by the scheduler yet")


@dataclass(frozen=True, slots=True)
class Job:
    """A submitted job as it stands now."""

    id: str
    owner: str
    spec: JobSpec
    submitted_at: float
    queued_at: float
    state: JobState = JobState.QUEUED
    reason: Reason = JUST_SUBMITTED
    attempt: int = 0
    retries_used: int = 0
    tasks: tuple[Task, ...] = ()
    placement: Placement | None = None
    next: Next | None = None
    started_at: float | None = None
    running_at: float | None = None
    finished_at: float | None = None
    is_deleting: bool = False

    def position(self, role: str, index: int) -> int:
        """Where a task stands among all; `InvalidTransition` when the job has none of that name."""
        position = 0
        for one in self.spec.roles:
            if one.name == role and 0 <= index < one.count:
                return position + index
            position += one.count
        raise InvalidTransition(f"job {self.id} has no task {role}-{index}")

    def task(self, role: str, index: int) -> Task:
        return self.tasks[self.position(role, index)]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an event made of a job."""

    job: Job
    effects: tuple[Effect, ...] = ()


def submit(job_id: str, owner: str, spec: JobSpec, at: float) -> Job:
    """Make the job that a submit creates."""
    return Job(job_id, owner, spec, submitted_at=at, queued_at=at, tasks=_fresh_tasks(spec))


def _fresh_tasks(spec: JobSpec) -> tuple[Task, ...]:
    return tuple(Task(role.name, index) for role in spec.roles for index in range(role.count))


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
    (S.STOPPING, TaskStarted): frozenset({S.STOPPING}),
    (S.STOPPING, LaunchFailed): frozenset({S.STOPPING}),
    (S.STOPPING, Preempted): frozenset({S.STOPPING}),
    (S.STOPPING, TasksGone): _ENDS | {S.QUEUED},
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

# What may arrive late or twice and then means nothing: the world is slower than our table.
LATE = (
    TaskStarted,
    TaskExited,
    TaskLost,
    LaunchFailed,
    TasksGone,
    Placed,
    Refused,
    WaitExplained,
    Preempted,
    StopAsked,
)


def advance(job: Job, event: Event) -> Outcome:
    """Apply an event; raise `InvalidTransition` for a move that the table does not know."""
    attempt = getattr(event, "attempt", job.attempt)
    allowed = MOVES.get((job.state, type(event)))
    if attempt < job.attempt or (allowed is None and isinstance(event, LATE)):
        return Outcome(job)
    if allowed is None or attempt > job.attempt:
        raise InvalidTransition(_story(job, event))
    outcome = _RULES[type(event)](job, event)
    if outcome.job.state not in allowed:
        raise InvalidTransition(_story(job, event) + f"; it led to {outcome.job.state}")
    return outcome


def _story(job: Job, event: Event) -> str:
    tasks = ", ".join(f"{task.name} {task.state}" for task in job.tasks[:20])
    return (
        f"job {job.id} is {job.state} in attempt {job.attempt} ({job.reason.code}: {job.reason.message}; "
        f"tasks: {tasks}) and cannot take {event!r}"
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
    reason = Reason(ReasonCode.PREPARING, f"starting {len(tasks)} task{'s' * (len(tasks) != 1)}")
    placed = replace(
        job,
        state=S.STARTING,
        reason=reason,
        placement=event.placement,
        tasks=tasks,
        started_at=event.at,
        running_at=None,
    )
    return Outcome(placed, (LaunchTasks(job.attempt),))


def _with_task(job: Job, event: TaskStarted | TaskExited | TaskLost, **changes: Any) -> Job | None:
    """Change one task; None when it is over already, so that the first word about an end stands."""
    position = job.position(event.role, event.index)
    task = job.tasks[position]
    if task.state.is_over:
        return None
    changed = replace(task, **changes)
    return replace(job, tasks=(*job.tasks[:position], changed, *job.tasks[position + 1 :]))


def _start_task(job: Job, event: TaskStarted) -> Outcome:
    if job.task(event.role, event.index).started_at is not None:
        return Outcome(job)
    changed = _with_task(job, event, state=TaskState.RUNNING, started_at=event.at)
    return Outcome(job) if changed is None else Outcome(_run_when_all_started(changed, event.at))


def _run_when_all_started(job: Job, at: float) -> Job:
    if job.state is not S.STARTING or any(task.started_at is None for task in job.tasks):
        return job
    reason = Reason(
        ReasonCode.RUNNING, f"all {len(job.tasks)} tasks run" if len(job.tasks) > 1 else "the task runs"
    )
    return replace(job, state=S.RUNNING, reason=reason, running_at=at)


def _exit_task(job: Job, event: TaskExited) -> Outcome:
    started = job.task(event.role, event.index).started_at
    changed = _with_task(
        job,
        event,
        state=TaskState.EXITED,
        exit_code=event.exit_code,
        detail=event.detail,
        started_at=event.at if started is None else started,
        finished_at=event.at,
    )
    if changed is None:
        return Outcome(job)
    return _judge(_run_when_all_started(changed, event.at), event.role, event.at)


def _lose_task(job: Job, event: TaskLost) -> Outcome:
    changed = _with_task(job, event, state=TaskState.LOST, detail=event.detail, finished_at=event.at)
    return Outcome(job) if changed is None else _judge(changed, event.role, event.at)


def _judge(job: Job, role_name: str, at: float) -> Outcome:
    """Decide after the end of a task of a role whether the attempt is over."""
    if job.state is S.STOPPING:
        return Outcome(job)
    role = job.spec.role(role_name)
    first = job.position(role_name, 0)
    tasks = job.tasks[first : first + role.count]
    least_failed, least_succeeded = role.completion.min_failed, role.completion.min_succeeded
    if least_failed is not None:
        failed = [task for task in tasks if task.has_failed]
        if len(failed) >= least_failed:
            return _end(job, Next(S.FAILED, _why_failed(failed, len(tasks))), at)
    if least_succeeded is not None:
        n_succeeded = sum(task.has_succeeded for task in tasks)
        if n_succeeded >= least_succeeded:
            message = f"{n_succeeded} of {len(tasks)} {role.name} tasks succeeded, as many as the job needs"
            return _end(job, Next(S.SUCCEEDED, Reason(ReasonCode.COMPLETED, message)), at)
    if all(task.state.is_over for task in job.tasks):
        return _end(job, Next(S.SUCCEEDED, Reason(ReasonCode.COMPLETED, "all tasks are done")), at)
    return Outcome(job)


def _why_failed(failed: list[Task], n_tasks: int) -> Reason:
    first = min(failed, key=lambda task: (task.finished_at or 0, task.index))
    details = {"task": first.name, "exit_code": first.exit_code, "n_failed": len(failed), "n_tasks": n_tasks}
    if first.state is TaskState.LOST:
        return Reason(ReasonCode.TASK_LOST, f"task {first.name} was lost: {first.detail}", details)
    signal = (
        f" (signal {first.exit_code - 128})" if first.exit_code is not None and first.exit_code > 128 else ""
    )
    detail = f": {first.detail}" if first.detail else ""
    return Reason(
        ReasonCode.TASK_FAILED,
        f"task {first.name} exited with code {first.exit_code}{signal}{detail}",
        details,
    )


def _end(job: Job, following: Next, at: float) -> Outcome:
    """End the attempt: at once when nothing runs and nothing is to be tried again, else through STOPPING."""
    if following.state is S.FAILED and job.retries_used < job.spec.retry:
        again = job.retries_used + 1
        message = f"{following.reason.message}; retry {again} of {job.spec.retry}"
        reason = replace(following.reason, code=ReasonCode.RETRYING, message=message)
        return _stop(replace(job, retries_used=again), Next(S.QUEUED, reason))
    if all(task.state.is_over for task in job.tasks):
        return _finish(job, following, at)
    return _stop(job, following)


def _stop(job: Job, following: Next) -> Outcome:
    stopping = replace(job, state=S.STOPPING, reason=following.reason, next=following)
    return Outcome(stopping, (StopTasks(job.attempt, job.spec.grace_s),))


def _finish(job: Job, following: Next, at: float) -> Outcome:
    finished = replace(
        job, state=following.state, reason=following.reason, next=None, placement=None, finished_at=at
    )
    effects: tuple[Effect, ...] = (Reschedule(),)
    return Outcome(finished, (*effects, RemoveJob()) if job.is_deleting else effects)


def _fail_launch(job: Job, event: LaunchFailed) -> Outcome:
    if job.state is S.STOPPING:
        return Outcome(job)
    reason = Reason(ReasonCode.LAUNCH_FAILED, event.message)
    if event.is_final:
        return _stop(job, Next(S.FAILED, reason))
    outcome = _end(job, Next(S.FAILED, reason), event.at)
    return outcome if outcome.job.state is S.STOPPING else _stop(job, Next(S.FAILED, reason))


def _ask_stop(job: Job, event: StopAsked) -> Outcome:
    never_ran = job.state is S.QUEUED and event.reason.code is ReasonCode.DEADLINE
    following = Next(S.FAILED if never_ran else S.STOPPED, event.reason)
    if job.state is S.QUEUED:
        return _finish(job, following, event.at)
    if job.state is S.STOPPING:
        # A stop during a retry cancels the retry; an end that is already decided stands.
        again = job.next is not None and job.next.state is S.QUEUED
        return Outcome(replace(job, next=following, reason=event.reason) if again else job)
    return _stop(job, following)


def _preempt(job: Job, event: Preempted) -> Outcome:
    return Outcome(job) if job.state is S.STOPPING else _stop(job, Next(S.QUEUED, event.reason))


def _go_on(job: Job, event: TasksGone) -> Outcome:
    following = job.next
    assert following is not None, _story(job, event)
    tasks = tuple(
        task
        if task.state.is_over
        else replace(task, state=TaskState.EXITED, detail="stopped", finished_at=event.at)
        for task in job.tasks
    )
    ended = replace(job, tasks=tasks)
    if following.state is not S.QUEUED:
        return _finish(ended, following, event.at)
    again = replace(
        job,
        state=S.QUEUED,
        reason=following.reason,
        next=None,
        placement=None,
        attempt=job.attempt + 1,
        tasks=_fresh_tasks(job.spec),
        queued_at=event.at,
        started_at=None,
        running_at=None,
    )
    return Outcome(again, (Reschedule(),))


def _refuse(job: Job, event: Refused) -> Outcome:
    return _finish(job, Next(S.FAILED, event.reason), event.at)


def _explain_wait(job: Job, event: WaitExplained) -> Outcome:
    return Outcome(replace(job, reason=event.reason))


def _edit(job: Job, event: Edited) -> Outcome:
    wanted = {"name": event.name, "description": event.description, "priority": event.priority}
    changes: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    edited = replace(job, spec=replace(job.spec, **changes))
    return Outcome(edited, (Reschedule(),) if event.priority is not None and job.state is S.QUEUED else ())


def _delete(job: Job, event: DeleteAsked) -> Outcome:
    deleting = replace(job, is_deleting=True)
    if job.state in FINAL_STATES:
        return Outcome(deleting, (RemoveJob(),))
    reason = Reason(ReasonCode.DELETED, f"deleted by {event.by}")
    return _ask_stop(deleting, StopAsked(event.at, reason, event.by))


_RULES: Mapping[type, Callable[[Job, Any], Outcome]] = {
    Placed: _place,
    TaskStarted: _start_task,
    TaskExited: _exit_task,
    TaskLost: _lose_task,
    LaunchFailed: _fail_launch,
    StopAsked: _ask_stop,
    Preempted: _preempt,
    TasksGone: _go_on,
    Refused: _refuse,
    WaitExplained: _explain_wait,
    Edited: _edit,
    DeleteAsked: _delete,
}
