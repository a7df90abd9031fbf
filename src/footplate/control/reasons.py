"""Why jobs wait, as people are told: what is told is what the rows say, so what is new is stored first."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping

from footplate.control.context import Context
from footplate.control.waitnews import WaitNews, store_waits
from footplate.domain.errors import FootplateError
from footplate.domain.events import WaitExplained
from footplate.domain.job import Job
from footplate.domain.states import JobState, Reason
from footplate.scheduler.decisions import Plan

# With more than these at once, the rest is told as it was stored before.
MOST_AT_ONCE = 200
# Whoever asks is answered also while nothing can be stored, from what was.
STORED_WITHIN_S = 0.5

log = logging.getLogger(__name__)
# A job's reason, and how many jobs are before it.
Why = tuple[Reason, int]


class Reasons:
    """Tells why jobs wait. A look costs a commit only where a pass has changed what it sees."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._storing: set[asyncio.Task[None]] = set()

    async def tell(self, plan: Plan | None, job_ids: Iterable[str]) -> Mapping[str, Why]:
        """Say why jobs wait, by the last plan or by their engine; those that do not wait are left out."""
        board, now = self._context.store.board, self._context.clock.now()
        ahead: dict[str, int] = {}
        news: list[tuple[str, WaitExplained]] = []
        for job_id in job_ids:
            job = board.get(job_id)
            if job is None or (found := self._find(plan, job)) is None:
                continue
            reason, ahead[job_id] = found
            if reason != job.reason:
                news.append((job_id, WaitExplained(now, job.attempt, reason)))
        if news:
            await self._store(news[:MOST_AT_ONCE])
        return {job_id: (job.reason, n) for job_id, n in ahead.items() if (job := self._waiting(job_id))}

    def _find(self, plan: Plan | None, job: Job) -> Why | None:
        if job.is_handed_over:
            wait = self._context.waits.of(job)
            return (job.reason, wait.ahead) if wait is not None and wait.ahead is not None else None
        if plan is None or job.state is not JobState.QUEUED or job.id not in plan.position:
            return None
        reason = plan.explain(job.id)
        return reason, reason.details.get("ahead", plan.position[job.id])

    def _waiting(self, job_id: str) -> Job | None:
        job = self._context.store.board.get(job_id)
        return job if job is not None and job.state is JobState.QUEUED else None

    async def _store(self, news: WaitNews) -> None:
        """Store what is new, unless that takes too long; it is then told the next time."""
        storing = asyncio.create_task(self._write(news), name="footplate-reasons")
        self._storing.add(storing)
        storing.add_done_callback(self._storing.discard)
        await asyncio.wait([storing], timeout=STORED_WITHIN_S)

    async def _write(self, news: WaitNews) -> None:
        try:
            await store_waits(self._context.store, news, in_engine=False)
        except FootplateError as error:
            log.warning("why jobs wait cannot be stored: %s", error)
