"""Samples the resource usage of tasks for charts, often at first and less often later."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from footplate.control.context import Context
from footplate.domain.attempt import attempt_of
from footplate.domain.job import Job
from footplate.domain.states import JobState
from footplate.engines.base import Engine, ReadsUsage, Usage
from footplate.store.usagefiles import UNKNOWN, Sample

log = logging.getLogger(__name__)

YOUNG_S = 3600.0
SELDOM_S = 30.0


class UsageKeeper:
    """Samples running jobs, and writes down what their tasks use."""

    def __init__(self, context: Context, name: str, engine: Engine) -> None:
        self._context = context
        self._name = name
        self._engine = engine
        self._kept_at: dict[str, float] = {}

    async def sample(self) -> None:
        engine, now = self._engine, self._context.clock.now()
        if not isinstance(engine, ReadsUsage):
            return
        board, engines = list(self._context.store.board.values()), self._context.engines
        running = [
            job for job in board if job.state is JobState.RUNNING and engines.name_of(job) == self._name
        ]
        self._kept_at = {job.id: self._kept_at.get(job.id, 0.0) for job in running}
        due = [job for job in running if self._is_due(job, now)]
        if due:
            used = await engine.usage([attempt_of(job) for job in due])
            await asyncio.to_thread(self._keep, used)
            self._kept_at.update((job.id, now) for job in due)

    def _is_due(self, job: Job, now: float) -> bool:
        is_young = now - (job.running_at or now) < YOUNG_S
        return is_young or now - self._kept_at[job.id] >= SELDOM_S

    def _keep(self, used: Sequence[Usage]) -> None:
        for one in used:
            task = f"{one.role}-{one.index}"
            try:
                self._context.usage.append(one.attempt_id, task, _sample(one))
            except OSError as error:
                log.warning("what %s of %s uses cannot be kept: %s", task, one.attempt_id, error)


def _sample(one: Usage) -> Sample:
    cards = one.cards
    return Sample(
        at=one.at,
        cpu_s=one.cpu_s,
        memory_bytes=one.memory_bytes,
        read_bytes=UNKNOWN if one.read_bytes is None else one.read_bytes,
        written_bytes=UNKNOWN if one.written_bytes is None else one.written_bytes,
        n_processes=UNKNOWN if one.n_processes is None else one.n_processes,
        gpu_utilisation=sum(card.utilisation for card in cards) / len(cards) if cards else UNKNOWN,
        gpu_memory_bytes=sum(card.memory_bytes for card in cards) if cards else UNKNOWN,
    )
