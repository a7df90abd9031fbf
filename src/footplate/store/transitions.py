"""The only writer of job state: every change goes through `advance` and leaves a line in the event log.

Changes are gathered in the transaction and written together by `flush`, so that several moves of one job
in one commit cost one row update.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from footplate.domain import events as ev
from footplate.domain.accounting import follow
from footplate.domain.advance import advance
from footplate.domain.ending import STOPPED, Outcome
from footplate.domain.errors import NotFound
from footplate.domain.eventkinds import OF_STATE, EventKind
from footplate.domain.job import Job
from footplate.domain.kinds import show_instant
from footplate.domain.messages import Message, say
from footplate.domain.results import SavedResults, place_of
from footplate.domain.states import JobState, ReasonCode, TaskState
from footplate.store import result_queries, rows, statements, tables
from footplate.store.writer import Transaction


@dataclass(frozen=True, slots=True)
class Transition:
    """What one event made of one job."""

    before: Job
    after: Job


def current(tx: Transaction, job_id: str, board: dict[str, Job]) -> Job:
    """The job as this transaction sees it."""
    if job_id in tx.after:
        job = tx.after[job_id]
    else:
        job = board.get(job_id) or load(tx.connection, job_id)
    if job is None:
        raise NotFound("job_unknown", job=job_id)
    return job


def load(connection: sa.Connection, job_id: str) -> Job | None:
    """Read a job with the tasks of its current attempt."""
    row = connection.execute(sa.select(tables.jobs).where(tables.jobs.c.id == job_id)).mappings().first()
    return None if row is None else rows.job_from(dict(row), _task_rows(connection, job_id, row["attempt"]))


def _task_rows(connection: sa.Connection, job_id: str, attempt: int) -> list[rows.Row]:
    t = tables.tasks
    wanted = sa.select(t).where(t.c.job_id == job_id, t.c.attempt == attempt).order_by(t.c.position)
    return [dict(row) for row in connection.execute(wanted).mappings()]


@dataclass(frozen=True, slots=True)
class Ahead:
    """The result of applying an event to a job in this state."""

    before: Job
    outcome: Outcome


def work_ahead(job: Job, event: ev.Event) -> Ahead:
    """Work out what an event would make of a job."""
    return Ahead(job, advance(job, event))


def apply(
    tx: Transaction,
    board: dict[str, Job],
    job_id: str,
    event: ev.Event,
    actor: str = "",
    ahead: Ahead | None = None,
    cause: int = 0,
) -> Transition:
    """Move a job by an event; nothing is recorded when the event means nothing any more.

    What was worked out ahead is taken as it is where the job still stands as it stood then. `cause` is the
    number of the event that this one answers.
    """
    before = current(tx, job_id, board)
    is_so = ahead is not None and ahead.before is before
    outcome = ahead.outcome if ahead is not None and is_so else advance(before, event)
    after = outcome.job
    if after is not before:
        tx.before.setdefault(job_id, board.get(job_id) or before)
        if after.attempt != before.attempt:
            tx.ended_attempts.append(_closed(before, event.at))
        after, ended = follow(before, after, event.at)
        tx.holdings += ended
        after = _record(tx, before, after, event, actor, cause)
        tx.after[job_id] = after
    tx.effects.extend((after, effect) for effect in outcome.effects)
    return Transition(before, after)


def _record(tx: Transaction, before: Job, after: Job, event: ev.Event, actor: str, cause: int) -> Job:
    """Write what there is to say of a move; the result knows the line that tells its new state."""
    caused_by = 0 if actor else max(cause, before.moved_by)
    seq = 0
    for kind, said, facts in _describe(before, after, event):
        # A move into the next attempt is told as the end of the one before.
        told = before if kind != "edited" else after
        seq = tx.record(told, kind, event.at, said, actor, caused_by, **facts)
        caused_by = seq
    return replace(after, moved_by=seq) if after.state is not before.state else after


def _closed(job: Job, at: float) -> Job:
    """The attempt that a retry leaves behind, as its history shows it."""
    tasks = tuple(
        task if task.state.is_over else replace(task, state=TaskState.EXITED, detail=STOPPED, finished_at=at)
        for task in job.tasks
    )
    state = JobState.FAILED if job.reason.code is ReasonCode.RETRYING else JobState.STOPPED
    return replace(job, state=state, tasks=tasks, finished_at=at)


# What kind of event it is, what it says, and facts that it does not say.
_Line = tuple[EventKind, Message, dict[str, Any]]


def _describe(before: Job, after: Job, event: ev.Event) -> list[_Line]:
    teller = _TELLERS.get(type(event))
    lines = teller(before, after, event) if teller else []
    if after.state is not before.state:
        lines.append(_tell_state(after))
    return lines


def _tell_state(job: Job) -> _Line:
    facts = {**job.reason.facts, "state": job.state.value, "reason": job.reason.code.value}
    return OF_STATE[job.state], job.reason.said, facts


def _tell_exit(before: Job, after: Job, event: ev.TaskExited) -> list[_Line]:
    task, facts = _task_of(event)
    said = say("task_exited", task=task, exit_code=event.exit_code, detail=event.detail)
    if event.cause:
        facts["cause"] = event.cause
    return [("task_exited", said, facts), *_tell_retry_of(before, after, event)]


def _tell_loss(before: Job, after: Job, event: ev.TaskLost) -> list[_Line]:
    task, facts = _task_of(event)
    lost: _Line = ("task_lost", say("task_lost", task=task, detail=event.detail), facts)
    return [lost, *_tell_retry_of(before, after, event)]


def _tell_start(_before: Job, _after: Job, event: ev.TaskStarted) -> list[_Line]:
    task, facts = _task_of(event)
    return [("task_started", say("task_started", task=task), facts)]


def _task_of(event: ev.TaskStarted | ev.TaskExited | ev.TaskLost) -> tuple[str, dict[str, Any]]:
    """Name a task, and as a fact its run where it was started again."""
    return f"{event.role}-{event.index}", {"run": event.run} if event.run else {}


def _tell_edit(before: Job, after: Job, _event: ev.Edited) -> list[_Line]:
    changes = {
        name: {"from": getattr(before.spec, name), "to": getattr(after.spec, name)}
        for name in ev.EDITABLE
        if getattr(before.spec, name) != getattr(after.spec, name)
    }
    return [("edited", say("edited", fields=list(changes)), {"changes": changes})] if changes else []


def _tell_wait(before: Job, after: Job, _event: ev.WaitExplained | ev.HandedOver) -> list[_Line]:
    if before.reason.code is after.reason.code:
        return []
    return [("waiting", after.reason.said, {"reason": after.reason.code.value, **after.reason.facts})]


def _tell_stop(_before: Job, _after: Job, event: ev.StopAsked) -> list[_Line]:
    facts = {**event.reason.facts, "reason": event.reason.code.value, "by": event.by}
    return [("stop_asked", event.reason.said, facts)]


def _tell_delete(_before: Job, _after: Job, event: ev.DeleteAsked) -> list[_Line]:
    said = say("deleted_for_good_by" if event.for_good else "trashed_by", by=event.by)
    if not event.by:
        said = say("trash_over")
    return [("delete_asked", said, {"by": event.by, "for_good": event.for_good})]


def _tell_restore(_before: Job, _after: Job, event: ev.Restored) -> list[_Line]:
    return [("restored", say("restored_by", by=event.by), {})]


def _tell_release(_before: Job, _after: Job, event: ev.Released) -> list[_Line]:
    said = say("released_by", by=event.by) if event.by else say("keep_over")
    return [("released", said, {"by": event.by})]


def _tell_progress(before: Job, after: Job, _event: ev.ProgressSeen) -> list[_Line]:
    if before.reason is after.reason:
        return []
    tasks = list(before.reason.details.get("tasks", ()))
    return [("hang_over", say("progress_again"), {"tasks": tasks})]


def _tell_retry_of(before: Job, after: Job, event: ev.TaskExited | ev.TaskLost) -> list[_Line]:
    """Tell that a task is started again by itself, if it is."""
    task = after.task(event.role, event.index)
    if task.run == before.task(event.role, event.index).run:
        return []
    most = after.spec.role(event.role).task_retry
    not_before = None if task.not_before is None else show_instant(task.not_before)
    said = say("task_retried", task=task.name, run=task.run, most=most, not_before=not_before)
    return [("task_retried", said, {})]


_TELLERS: dict[type, Callable[[Job, Job, Any], list[_Line]]] = {
    ev.TaskStarted: _tell_start,
    ev.TaskExited: _tell_exit,
    ev.TaskLost: _tell_loss,
    ev.Edited: _tell_edit,
    ev.WaitExplained: _tell_wait,
    ev.HandedOver: _tell_wait,
    ev.StopAsked: _tell_stop,
    ev.DeleteAsked: _tell_delete,
    ev.Restored: _tell_restore,
    ev.Released: _tell_release,
    ev.ProgressSeen: _tell_progress,
}


def insert(tx: Transaction, job: Job) -> bool:
    """Add a new job; False when its owner has one of that name already."""
    job = replace(job, moved_by=tx.next_seq)
    if _INSERT_JOB.run(tx.connection, [rows.job_row(job)]) != 1:
        return False
    if job.spec.results is not None:
        result_queries.put(tx.connection, job.id, SavedResults(*place_of(job)))
    tx.before[job.id] = job
    tx.after[job.id] = job
    tx.record(job, "submitted", job.submitted_at, say("submitted_to", queue=job.spec.queue), job.owner)
    tx.effects.append((job, ev.Reschedule()))
    return True


def remove(tx: Transaction, job: Job, at: float, freed_bytes: int = 0) -> None:
    """Forget a job; the event log is append-only and tells readers that it is gone."""
    for table, column in (
        (tables.tasks, tables.tasks.c.job_id),
        (tables.attempts, tables.attempts.c.job_id),
        (tables.idempotency, tables.idempotency.c.job_id),
        (tables.masks, tables.masks.c.job_id),
        (tables.kept_files, tables.kept_files.c.job_id),
        (tables.originals, tables.originals.c.job_id),
        (tables.alarms, tables.alarms.c.job_id),
        (tables.results, tables.results.c.job_id),
        (tables.jobs, tables.jobs.c.id),
    ):
        tx.connection.execute(sa.delete(table).where(column == job.id))
    tx.before.setdefault(job.id, job)
    tx.after[job.id] = None
    tx.record(job, "deleted", at, say("job_removed", name=job.spec.name, freed_bytes=freed_bytes))


def flush(tx: Transaction) -> None:
    """Write what the transaction has gathered."""
    changed = [job for job in tx.after.values() if job is not None]
    updates, respecs, task_rows, attempt_rows = (
        [],
        [],
        [],
        [rows.attempt_row(job) for job in tx.ended_attempts],
    )
    for job in changed:
        before = tx.before[job.id]
        if before is job:
            continue
        updates.append(rows.state_columns(job))
        if before.spec is not job.spec or before.deleted_at != job.deleted_at:
            respecs.append({"job_id": job.id, **rows.spec_columns(job)})
        task_rows += _changed_tasks(before, job)
        if job.started_at is not None:
            attempt_rows.append(rows.attempt_row(job))
    for ended in tx.ended_attempts:
        task_rows += _changed_tasks(None, ended)
    for statement, values in (
        (_UPDATE_STATE, updates),
        (_UPDATE_SPEC, respecs),
        (_PUT_TASKS, task_rows),
        (_PUT_ATTEMPTS, attempt_rows),
        (_INSERT_EVENTS, [event.row() for event in tx.events]),
        (_PUT_HOLDINGS, [rows.holding_row(one) for one in tx.holdings]),
    ):
        if values:
            statement.run(tx.connection, values)


def _changed_tasks(before: Job | None, job: Job) -> list[dict[str, Any]]:
    if job.started_at is None:
        return []
    known = before.tasks if before is not None and before.attempt == job.attempt else ()
    return [
        rows.task_row(job, position, task)
        for position, task in enumerate(job.tasks)
        if position >= len(known) or known[position] is not task
    ]


_STATE_COLUMNS = (
    "state",
    "reason",
    "attempt",
    "retries_used",
    "queued_at",
    "started_at",
    "running_at",
    "finished_at",
    "is_deleting",
    "uses",
    "avoids",
    "not_before",
    "n_short_lived",
    "kept_until",
    "deleted_at",
    "placement",
    "next",
    "moved_by",
    "held_since",
)
_SPEC_COLUMNS = (
    "name",
    "description",
    "queue",
    "priority",
    "shared",
    "retry",
    "n_tasks",
    "milli_cpus",
    "memory_bytes",
    "gpus",
    "tags",
    "spec",
)


_INSERT_JOB = statements.insert_or_skip(tables.jobs)
_INSERT_EVENTS = statements.insert(tables.events)
_UPDATE_STATE = statements.update(tables.jobs, _STATE_COLUMNS, "id = :job_id")
_UPDATE_SPEC = statements.update(tables.jobs, _SPEC_COLUMNS, "id = :job_id")
_PUT_TASKS = statements.upsert(tables.tasks)
_PUT_ATTEMPTS = statements.upsert(tables.attempts)
_PUT_HOLDINGS = statements.upsert(tables.holdings)
