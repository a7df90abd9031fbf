"""What a caller may do about the end of jobs: stop, halt, preempt, release, delete, restore."""

from __future__ import annotations

from collections.abc import Callable

from footplate.domain.errors import Conflict
from footplate.domain.events import DeleteAsked, Edited, Event, Preempted, Released, Restored, StopAsked
from footplate.domain.job import Job
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.services.access import Caller, require_touch
from footplate.services.jobs import find, free_name
from footplate.services.platform import Platform
from footplate.store import job_queries, transitions
from footplate.store.writer import Transaction


async def stop(platform: Platform, caller: Caller, id_or_name: str, now: bool = False) -> Job:
    """Ask a job to end, `now` without any grace; a job that is over already is a conflict."""
    reason = Reason(ReasonCode.STOPPED_BY_USER, f"stopped by {caller.name}", {"by": caller.name})
    asked = StopAsked(platform.clock.now(), reason, caller.name, grace_s=0.0 if now else None)

    def decide(job: Job) -> Event:
        _require_living(job)
        return asked

    return await _move(platform, caller, id_or_name, "stop", decide)


async def halt(platform: Platform, caller: Caller, id_or_name: str) -> Job:
    """Ask a job to end and to leave what it has so far; its files stay to be fetched."""
    message = f"halted by {caller.name}; what it has made so far can be downloaded"
    reason = Reason(ReasonCode.HALTED, message, {"by": caller.name})
    asked = StopAsked(platform.clock.now(), reason, caller.name)

    def decide(job: Job) -> Event:
        _require_living(job)
        if job.state is JobState.STOPPING:
            raise Conflict(f"job {job.id} is {job.state} already; what it has made stays until it is deleted")
        return asked

    return await _move(platform, caller, id_or_name, "halt", decide)


async def preempt(platform: Platform, caller: Caller, id_or_name: str) -> Job:
    """Make a job give its place back and wait again, as if a more urgent one had come."""
    message = f"{caller.name} asked it to give its place back; it waits to run again from its checkpoint"
    reason = Reason(ReasonCode.PREEMPTED, message, {"by": caller.name})
    now = platform.clock.now()

    def decide(job: Job) -> Event:
        _require_living(job)
        if job.state not in (JobState.STARTING, JobState.RUNNING):
            raise Conflict(f"job {job.id} is {job.state} and has no place to give back")
        return Preempted(now, job.attempt, reason)

    return await _move(platform, caller, id_or_name, "preempt", decide)


async def release(platform: Platform, caller: Caller, id_or_name: str) -> Job:
    """Give up the environment that was kept after a failure."""
    asked = Released(platform.clock.now(), caller.name)

    def decide(job: Job) -> Event:
        _require_living(job)
        if not job.is_kept:
            raise Conflict(f"nothing of job {job.id} is kept: it is {job.state}")
        return asked

    return await _move(platform, caller, id_or_name, "release", decide)


async def delete(platform: Platform, caller: Caller, id_or_name: str, for_good: bool = False) -> Job:
    """Put a job into the trash, or remove it for good; one that runs is stopped first."""
    asked = DeleteAsked(platform.clock.now(), caller.name, for_good)

    def decide(job: Job) -> Event:
        if job.deleted_at is not None and not for_good:
            raise Conflict(f"job {job.id} is in the trash already: restore it, or delete it for good")
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
            raise Conflict(f"job {job.id} cannot be restored: {_why_not_restorable(job)}")
        taken = job_queries.id_of_name(tx.connection, job.owner, job.spec.name)
        if taken not in (None, job.id):
            renamed = Edited(now, caller.name, name=free_name(tx.connection, job.owner, job.spec.name))
            transitions.apply(tx, platform.store.board, job.id, renamed, caller.name)
        restored = Restored(now, caller.name)
        return transitions.apply(tx, platform.store.board, job.id, restored, caller.name).after

    return await platform.store.write(unit)


def _why_not_restorable(job: Job) -> str:
    if job.deleted_at is None:
        return "it is not in the trash"
    if job.is_deleting:
        return "it is being removed for good"
    return f"it is {job.state}; wait until it has stopped"


def _require_living(job: Job) -> None:
    if job.state.is_final:
        raise Conflict(f"job {job.id} is over already: it is {job.state}")


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
        return transitions.apply(tx, board, job.id, decide(job), caller.name).after

    return await platform.store.write(unit)


def possible(job: Job, may_touch: bool) -> dict[str, bool]:
    """What can be done with a job now by somebody who may touch it, or may not."""
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
