"""How jobs wait in engines that place by themselves: read from the engine, and told as our own waits are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from footplate.control.waitnews import store_waits
from footplate.domain.attempt import attempt_of
from footplate.domain.estimate import Estimate
from footplate.domain.events import WaitExplained
from footplate.domain.job import Job
from footplate.domain.messages import say
from footplate.engines.base import PlacesItself, Wait
from footplate.store.store import Store


class EngineWaits:
    """Remembers what engines last said of the jobs that wait in them; the reason is in the job's row."""

    def __init__(self) -> None:
        self._waits: dict[str, Wait] = {}

    async def read(self, engine: PlacesItself, jobs: Iterable[Job], store: Store, now: float) -> None:
        """Ask an engine how jobs wait in it, and store what is new about the reasons."""
        waiting = {job.attempt_id: job for job in jobs if job.is_handed_over}
        if not waiting:
            return
        found = await engine.waits([attempt_of(job) for job in waiting.values()])
        told = {waiting[wait.attempt_id].id: wait for wait in found if wait.attempt_id in waiting}
        news = [
            (job.id, WaitExplained(now, job.attempt, told[job.id].reason))
            for job in waiting.values()
            if job.id in told and job.reason != told[job.id].reason
        ]
        await store_waits(store, news, in_engine=True)
        # Only then: whoever is told the position is told the reason that goes with it.
        self._waits.update(told)

    def of(self, job: Job) -> Wait | None:
        wait = self._waits.get(job.id)
        return wait if wait is not None and wait.attempt_id == job.attempt_id else None

    def estimate(self, job: Job, engine: str) -> Estimate:
        """Say when an engine expects to start a job."""
        wait = self.of(job)
        if wait is None or wait.expected_at is None:
            return Estimate(None, None, say("no_engine_estimate", engine=engine))
        return Estimate(wait.expected_at, None, say("engine_estimate", engine=engine))

    def order(self, board: Mapping[str, Job]) -> list[str]:
        """Name the jobs that wait in engines, each engine's first first."""
        waiting = [job for job in list(board.values()) if job.is_handed_over]
        return [job.id for job in sorted(waiting, key=self._place)] if waiting else []

    def _place(self, job: Job) -> tuple[str, float, float]:
        engine = job.placement.engine if job.placement is not None else ""
        wait = self.of(job)
        ahead = math.inf if wait is None or wait.ahead is None else wait.ahead
        return engine, ahead, job.queued_at

    def forget(self, job: Job) -> None:
        """Let go of a job that is over."""
        self._waits.pop(job.id, None)
