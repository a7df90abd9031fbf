"""The one door through which a job's state changes.

`advance` is a pure function: a job and an event in, the new job and the effects to carry out back. It obeys
the table of moves. News of an attempt that is over, and repeated news, change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from footplate.domain.ending import Outcome, finish
from footplate.domain.errors import InvalidTransition
from footplate.domain.events import (
    EDITABLE,
    DeleteAsked,
    Edited,
    Event,
    HandedOver,
    HangSeen,
    Hung,
    LaunchFailed,
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
    TaskExited,
    TaskLost,
    TasksGone,
    TaskStarted,
    WaitExplained,
)
from footplate.domain.job import Job, Next
from footplate.domain.messages import Message, say
from footplate.domain.moves import LATE, MOVES, OF_AN_ENGINE, OF_OUR_QUEUE
from footplate.domain.states import FINAL_STATES, JobState, Reason, ReasonCode
from footplate.domain.stoprules import ask_stop, end_hang, fail_launch, give_back, go_on, preempt, release
from footplate.domain.taskrules import (
    exit_task,
    hand_over,
    lose_task,
    note_hang,
    note_progress,
    place,
    start_task,
)

S = JobState


def advance(job: Job, event: Event) -> Outcome:
    """Apply an event; raise `InvalidTransition` for a move that the table does not know."""
    attempt, pair = getattr(event, "attempt", job.attempt), (job.state, type(event))
    allowed = MOVES.get(pair)
    if attempt < job.attempt or pair in LATE:
        return Outcome(job)
    if allowed is None or attempt > job.attempt or _is_of_another_queue(job, type(event)):
        raise InvalidTransition(_story(job, event))
    outcome = _RULES[type(event)](job, event)
    if outcome.job.state not in allowed:
        raise InvalidTransition(_story(job, event, outcome.job.state))
    return outcome


def _is_of_another_queue(job: Job, kind: type) -> bool:
    """Tell whether an event speaks of a job as waiting with us that waits with an engine, or the reverse."""
    if job.state is not S.QUEUED:
        return False
    return kind in (OF_OUR_QUEUE if job.is_handed_over else OF_AN_ENGINE)


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


def _refuse(job: Job, event: Refused) -> Outcome:
    return finish(job, Next(S.FAILED, event.reason), event.at)


def _explain_wait(job: Job, event: WaitExplained) -> Outcome:
    return Outcome(replace(job, reason=event.reason))


def _edit(job: Job, event: Edited) -> Outcome:
    wanted = {name: getattr(event, name) for name in EDITABLE}
    changes: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    edited = replace(job, spec=replace(job.spec, **changes))
    return Outcome(edited, (Reschedule(),) if event.priority is not None and job.state is S.QUEUED else ())


def _delete(job: Job, event: DeleteAsked) -> Outcome:
    since = event.at if job.deleted_at is None else job.deleted_at
    deleting = replace(job, deleted_at=since, is_deleting=job.is_deleting or event.for_good)
    if job.state in FINAL_STATES:
        return Outcome(deleting, (RemoveJob(),) if deleting.is_deleting else ())
    reason = Reason(ReasonCode.DELETED, say("deleted_by", by=event.by))
    return ask_stop(deleting, StopAsked(event.at, reason, event.by))


def _restore(job: Job, event: Restored) -> Outcome:
    if job.is_deleting:
        return Outcome(job)
    restored = replace(job, deleted_at=None)
    if job.reason.code is not ReasonCode.DELETED:
        return Outcome(restored)
    # It was stopped because it was deleted, which it no longer is.
    said = say("stopped_by_delete", by=job.reason.said.params.get("by", ""), restored_by=event.by)
    return Outcome(replace(restored, reason=Reason(ReasonCode.STOPPED_BY_USER, said)))


_RULES: Mapping[type, Callable[[Job, Any], Outcome]] = {
    Placed: place,
    HandedOver: hand_over,
    TaskStarted: start_task,
    TaskExited: exit_task,
    TaskLost: lose_task,
    LaunchFailed: fail_launch,
    StopAsked: ask_stop,
    Preempted: preempt,
    Hung: end_hang,
    HangSeen: note_hang,
    ProgressSeen: note_progress,
    Released: release,
    TasksGone: go_on,
    OthersGone: give_back,
    Refused: _refuse,
    WaitExplained: _explain_wait,
    Edited: _edit,
    DeleteAsked: _delete,
    Restored: _restore,
}
