"""The effect `RemoveJob`: remove a job's files, then its record."""

from __future__ import annotations

import asyncio

from footplate.control.context import Context
from footplate.control.retrying import keep_trying
from footplate.control.work import LAUNCH, REMOVE, STOP, STOP_OTHERS, JobWork
from footplate.domain.events import RemoveJob
from footplate.domain.job import Job
from footplate.store import transitions
from footplate.store.writer import Transaction


class Removals:
    """Removes jobs once nothing is under way for them any more."""

    def __init__(self, context: Context, work: JobWork) -> None:
        self._context = context
        self._work = work

    def remove(self, job: Job, _effect: RemoveJob) -> None:
        self._work.begin(REMOVE, job, lambda: self._remove(job))

    async def _remove(self, job: Job) -> None:
        await self._work.until_done(job, LAUNCH, STOP_OTHERS, STOP)
        await keep_trying(f"removing job {job.id}", lambda: _remove(self._context, job))


async def _remove(context: Context, job: Job) -> None:
    """Remove the files first: a crash in between leaves the record to try again from."""
    freed_bytes = await asyncio.to_thread(context.files.remove, job.id)
    context.metrics.forget(job.id)
    context.runs.forget(job.id)
    now = context.clock.now()

    def unit(tx: Transaction) -> None:
        kept = tx.after.get(job.id) or transitions.load(tx.connection, job.id)
        if kept is not None and kept.state.is_final:
            transitions.remove(tx, kept, now, freed_bytes)

    await context.store.write(unit)
