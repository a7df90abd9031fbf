"""After a start: the effects that were due are found again from the states, and each is safe to repeat."""

from __future__ import annotations

from footplate.control.effects import CarryOut
from footplate.domain.events import LaunchTasks, RemoveJob, StopTasks
from footplate.domain.job import Job
from footplate.domain.states import JobState
from footplate.store import job_queries
from footplate.store.store import Store


async def recover(store: Store, carry_out: CarryOut) -> None:
    """Carry out what was under way when the server before this one ended."""
    for job in list(store.board.values()):
        if (effect := due(job)) is not None:
            carry_out(job, effect)
    for job_id in await store.read(job_queries.to_remove):
        removing = await store.job(job_id)
        if removing is not None:
            carry_out(removing, RemoveJob())


def due(job: Job) -> LaunchTasks | StopTasks | None:
    """Say what must be carried out for a job in its state, if anything."""
    # A task of a running job that was to be started again may not have been.
    is_starting = job.state is JobState.STARTING or job.is_handed_over
    if is_starting or (job.state is JobState.RUNNING and job.runs):
        return LaunchTasks(job.attempt)
    if job.state is JobState.STOPPING:
        return StopTasks(job.attempt, job.grace_s, tuple(job.kept))
    return None
