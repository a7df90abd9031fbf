"""What a caller may do about the end of jobs: stop, halt, preempt, release, delete, restore."""

from __future__ import annotations

from collections.abc import Callable

from footplate.domain.errors import Conflict
from footplate.domain.events import DeleteAsked, Edited, Event, Preempted, Released, Restored, StopAsked
from footplate.domain.job import Job
from footplate.domain.messages import Message, say
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.services import audit
from footplate.services.access import Caller, require_touch
from footplate.services.jobs import find, free_name
from footplate.services.platform import Platform
from footplate.store import job_queries, transitions
from footplate.store.writer import Transaction


async def stop(platform: Platform, caller: Caller, id_or_name: str, now: bool = False) -> Job:
    """Ask a job to end, `now` without any grace; a job that is over already is a conflict."""
    reason = Reason(ReasonCode.STOPPED_BY_USER, say("stopped_by", by=caller.name))
    asked = StopAsked(platform.clock.now(), reason, caller.name, grace_s=0.0 if now else None)

    def decide(job: Job) -> Event:
        _require_living(job)
        return asked

    return await _move(platform, caller, id_or_name, "stop", decide)


async def halt(platform: Platform, caller: Caller, id_or_name: str) -> Job:
    """Ask a job to end and to leave what it has so far; its files stay to be fetched."""
    reason = Reason(ReasonCode.HALTED, say("halted_by", by=caller.name))
    asked = StopAsked(platform.clock.now(), reason, caller.name)

    def decide(job: Job) -> Event:
        _require_living(job)
        if job.state is JobState.STOPPING:
            raise Conflict("job_stops_already", job=job.id)
        return asked

    return await _move(platform, caller, id_or_name, "halt", decide)


async def preempt(platform: Platform, caller: Caller, id_or_name: str) -> Job:
    """Make a job give its place back and wait again, as if a more urgent one had come."""
    reason = Reason(ReasonCode.PREEMPTED, say("preempted_by", by=caller.name))
    now = platform.clock.now()

    def decide(job: Job) -> Event:
        _require_living(job)
        if job.state not in (JobState.STARTING, JobState.RUNNING):
            raise Conflict("nothing_to_preempt", job=job.id, state=job.state.value)
        return Preempted(now, job.attempt, reason)

    return await _move(platform, caller, id_or_name, "preempt", decide)


async def release(platform: Platform, caller: Caller, id_or_name: str) -> Job:
    """Give up the environment that was kept after a failure."""
    asked = Released(platform.clock.now(), caller.name)

    def decide(job: Job) -> Event:
        _require_living(job)
        if not job.is_kept:
            raise Conflict("nothing_kept", job=job.id, state=job.state.value)
        return asked

    return await _move(platform, caller, id_or_name, "release", decide)


async def delete(platform: Platform, caller: Caller, id_or_name: str, for_good: bool = False) -> Job:
    """Put a job into the trash, or remove it for good; one that runs is stopped first."""
    asked = DeleteAsked(platform.clock.now(), caller.name, for_good)

    def decide(job: Job) -> Event:
        if job.deleted_at is not None and not for_good:
            raise Conflict("job_in_trash_already", job=job.id)
        return asked

    return await _move(platform, caller, id_or_name, "delete", decide)


async def restore(platform: Platform, caller: Caller, id_or_name: str) -> Job:
    """Take a job out of the trash; where its name was taken meanwhile it gets the next free one."""
    found = await find(platform, caller, id_or_name)
    require_touch(caller, found, "restore")
    now = platform.clock.now()

    def unit(tx: Transaction) -> Job:
        job = transitions.current(tx, found.id, platform.store.board)
        if job.deleted_at is None or job.is_deleting or not job.state.is_final:
            raise Conflict(_why_not_restorable(job))
        taken = job_queries.id_of_name(tx.connection, job.owner, job.spec.name)
        if taken not in (None, job.id):
            renamed = Edited(now, caller.name, name=free_name(tx.connection, job.owner, job.spec.name))
            transitions.apply(tx, platform.store.board, job.id, renamed, caller.name)
        restored = Restored(now, caller.name)
        audit.note_job(tx, now, caller, "restore", job)
        return transitions.apply(tx, platform.store.board, job.id, restored, caller.name).after

    return await platform.store.write(unit)


def _why_not_restorable(job: Job) -> Message:
    if job.deleted_at is None:
        return say("job_not_in_trash", job=job.id)
    if job.is_deleting:
        return say("job_deleted_for_good", job=job.id)
    return say("job_not_stopped_yet", job=job.id, state=job.state.value)


def _require_living(job: Job) -> None:
    if job.state.is_final:
        raise Conflict("job_over", job=job.id, state=job.state.value)


async def _move(
    platform: Platform, caller: Caller, id_or_name: str, verb: str, decide: Callable[[Job], Event]
) -> Job:
    """Move a job by the event that `decide` makes for it; `decide` raises `Conflict` where none can be."""
    found = await find(platform, caller, id_or_name)
    require_touch(caller, found, verb)
    # Most of what cannot be is refused here, before it costs others their commit.
    decide(found)

    def unit(tx: Transaction) -> Job:
        board = platform.store.board
        job = transitions.current(tx, found.id, board)
        event = decide(job)
        audit.note_job(tx, event.at, caller, verb, job)
        return transitions.apply(tx, board, job.id, event, caller.name).after

    return await platform.store.write(unit)


def possible(job: Job, may_touch: bool) -> dict[str, bool]:
    """The actions that are possible on a job now, for a caller with or without the right to act on it."""
    is_over, trashed = job.state.is_final, job.deleted_at is not None
    runs = job.state in (JobState.STARTING, JobState.RUNNING)
    can = {
        "stop": not is_over,
        "halt": runs,
        "preempt": runs,
        "release": job.is_kept,
        "edit": not trashed,
        "delete": not job.is_deleting,
        "restore": trashed and is_over and not job.is_deleting,
    }
    return {verb: may_touch and allowed for verb, allowed in can.items()}
