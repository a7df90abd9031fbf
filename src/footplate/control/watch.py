"""Watching: what engines see becomes events of jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from footplate.domain.events import Event, TaskExited, TaskLost, TaskStarted
from footplate.domain.job import Job
from footplate.domain.messages import Message, say
from footplate.domain.pauses import Pauses
from footplate.domain.states import TaskState
from footplate.engines.base import Observation


@dataclass(frozen=True, slots=True)
class LastWords:
    """What a task that has failed left in its log: texts of the job's rules, and how long the log was."""

    found: frozenset[str] = frozenset()
    log_bytes: int = 0


SILENCE = LastWords()
PAUSES = Pauses()
Search = Callable[[Observation], LastWords]


def find_nothing(_one: Observation) -> LastWords:
    return SILENCE


def events_from(
    job: Job,
    seen: Sequence[Observation],
    now: float,
    search: Search = find_nothing,
    pauses: Pauses = PAUSES,
) -> list[Event]:
    """The news in these observations of one job's current attempt, in the order in which they happened.

    `search` says what is in the log of a task that has failed, `pauses` how long one may have to wait then.
    """
    known = {(task.role, task.index): task for task in job.tasks}
    attempt_id = job.attempt_id
    timed: list[tuple[float, Event]] = []
    for one in seen:
        task = known.get((one.role, one.index))
        if one.attempt_id != attempt_id or task is None or task.state.is_over or one.run != task.run:
            continue
        is_running = task.state is TaskState.RUNNING
        moment = 0.0
        for event in _events_of(one, job.attempt, now, is_running, search, pauses):
            # However the clock was set, no task ends before it starts.
            moment = max(moment, event.at)
            timed.append((moment, event))
    return [event for _, event in sorted(timed, key=itemgetter(0))]


def _events_of(
    one: Observation, attempt: int, now: float, is_running: bool, search: Search, pauses: Pauses
) -> Iterable[Event]:
    who = (attempt, one.role, one.index)
    if one.state in (TaskState.RUNNING, TaskState.EXITED) and not is_running:
        yield TaskStarted(one.started_at or now, *who, one.run, one.where)
    if one.state is TaskState.EXITED:
        code = 255 if one.exit_code is None else one.exit_code
        words = search(one) if code else SILENCE
        yield TaskExited(
            one.finished_at or now,
            *who,
            code,
            one.detail,
            one.run,
            one.cause,
            found=words.found,
            log_bytes=words.log_bytes,
            pauses=pauses,
        )
    elif one.state is TaskState.LOST or (one.state is TaskState.WAITING and is_running):
        cause = "tampered" if one.cause == "tampered" else "lost"
        yield TaskLost(now, *who, _why_lost(one), one.run, search(one).log_bytes, pauses, cause)


def _why_lost(one: Observation) -> Message:
    return say("start_forgotten") if one.state is TaskState.WAITING else one.detail or say("process_gone")
