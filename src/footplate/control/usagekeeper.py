"""Samples what tasks and nodes use: every second, or as seldom as it must be to cost little."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import replace

from footplate.control.context import Context
from footplate.domain.attempt import attempt_of
from footplate.domain.job import Job
from footplate.domain.states import JobState
from footplate.engines.base import Engine, ReadsNodeUsage, ReadsUsage
from footplate.engines.usage import CardUsage, NodeUsage, Usage
from footplate.store.usagefiles import UNKNOWN, Sample

log = logging.getLogger(__name__)

# The share of one CPU that sampling may take: with very many tasks there is less than one sample in a second.
MOST_OF_A_CPU = 0.03


class UsageKeeper:
    """Samples running jobs and nodes of an engine, and writes down what they use."""

    def __init__(self, context: Context, name: str, engine: Engine) -> None:
        self._context = context
        self._name = name
        self._engine = engine
        self._due_at = 0.0

    async def sample(self) -> None:
        """Sample once, if the last time has not cost too much for that."""
        began_at = time.monotonic()
        if began_at < self._due_at:
            return
        await self._sample_tasks()
        await self._sample_nodes()
        self._due_at = began_at + (time.monotonic() - began_at) / MOST_OF_A_CPU

    async def _sample_tasks(self) -> None:
        engine = self._engine
        if not isinstance(engine, ReadsUsage):
            return
        running = [job for job in list(self._context.store.board.values()) if job.state is JobState.RUNNING]
        ours = [attempt_of(job) for job in running if self._is_ours(job)]
        used = await engine.usage(ours) if ours else ()
        await asyncio.to_thread(self._keep, used, {job.attempt_id for job in running})

    def _is_ours(self, job: Job) -> bool:
        return self._context.engines.name_of(job) == self._name

    def _keep(self, used: Sequence[Usage], running: set[str]) -> None:
        usage = self._context.usage
        for one in used:
            task = f"{one.role}-{one.index}"
            try:
                usage.append(one.attempt_id, task, _sample(one, one.n_processes))
            except OSError as error:
                log.warning("what %s of %s uses cannot be kept: %s", task, one.attempt_id, error)
        usage.keep_only(running)

    async def _sample_nodes(self) -> None:
        if isinstance(self._engine, ReadsNodeUsage):
            await asyncio.to_thread(self._keep_nodes, await self._engine.node_usage())

    def _keep_nodes(self, used: Sequence[NodeUsage]) -> None:
        for one in used:
            try:
                self._context.usage.append_node(one.node, _sample(one))
                for card in one.cards:
                    sample = _with_cards(Sample(one.at, 0.0, 0), (card,))
                    self._context.usage.append_node(one.node, sample, card.index)
            except OSError as error:
                log.warning("what node %s uses cannot be kept: %s", one.node, error)


def _sample(one: Usage | NodeUsage, n_processes: int | None = None) -> Sample:
    sample = Sample(
        at=one.at,
        cpu_s=one.cpu_s,
        memory_bytes=one.memory_bytes,
        read_bytes=_known(one.read_bytes),
        written_bytes=_known(one.written_bytes),
        received_bytes=_known(one.received_bytes),
        sent_bytes=_known(one.sent_bytes),
        n_processes=_known(n_processes),
    )
    return _with_cards(sample, one.cards)


def _with_cards(sample: Sample, cards: Sequence[CardUsage]) -> Sample:
    if not cards:
        return sample
    powers = [card.power_w for card in cards if card.power_w is not None]
    return replace(
        sample,
        gpu_utilisation=sum(card.utilisation for card in cards) / len(cards),
        gpu_memory_bytes=sum(card.memory_bytes for card in cards),
        power_w=sum(powers) if powers else UNKNOWN,
    )


def _known(value: int | None) -> int:
    return UNKNOWN if value is None else value
