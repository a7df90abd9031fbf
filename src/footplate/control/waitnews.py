"""Stores why jobs wait, of those that still do: what is new was found outside of the transaction."""

from __future__ import annotations

from collections.abc import Sequence

from footplate.domain.events import WaitExplained
from footplate.domain.job import Job
from footplate.domain.states import JobState
from footplate.store.store import Store
from footplate.store.writer import Transaction

WaitNews = Sequence[tuple[str, WaitExplained]]


async def store_waits(store: Store, news: WaitNews, *, in_engine: bool) -> None:
    """Store the reasons of jobs that still wait, in an engine that places by itself or with us."""
    if not news:
        return

    def unit(tx: Transaction) -> None:
        found = ((store.living(tx, job_id), event) for job_id, event in news)
        due = [(job.id, event) for job, event in found if job is not None and _is_news(job, event)]
        store.apply_living(tx, due)

    def _is_news(job: Job, event: WaitExplained) -> bool:
        still_waits = job.state is JobState.QUEUED and job.is_handed_over is in_engine
        return still_waits and job.attempt == event.attempt and job.reason != event.reason

    await store.write(unit)
