"""Disk quotas: how much space the files of one job, and of all jobs of one user, may take."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass

import sqlalchemy as sa

from footplate.domain.clock import Clock
from footplate.domain.errors import FootplateError
from footplate.domain.events import StopAsked
from footplate.domain.messages import say
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.store.disk import Disk
from footplate.store.job_queries import owners_of_jobs
from footplate.store.jobfiles import JobFiles
from footplate.store.store import Store

log = logging.getLogger(__name__)

WATCH_EVERY_S = 30.0


@dataclass(frozen=True, slots=True)
class Quotas:
    """None for no bound."""

    job_bytes: int | None = None
    person_bytes: int | None = None

    @property
    def are_set(self) -> bool:
        return self.job_bytes is not None or self.person_bytes is not None


class QuotaKeeper:
    """Measures the folders of jobs from time to time; those of jobs that are over are measured once."""

    def __init__(self, store: Store, files: JobFiles, clock: Clock, disk: Disk, quotas: Quotas) -> None:
        self._store = store
        self._files = files
        self._clock = clock
        self._disk = disk
        self.quotas = quotas
        self._settled: dict[str, int] = {}

    async def watch(self) -> None:
        """Look again and again, as long as there is a quota; admins may set one at any time."""
        while True:
            try:
                if self.quotas.are_set:
                    await self.watch_once()
            except (FootplateError, OSError, sa.exc.SQLAlchemyError) as error:
                log.warning("the files of jobs cannot be measured: %s", error)
            await asyncio.sleep(WATCH_EVERY_S)

    async def watch_once(self) -> None:
        """Stop jobs over their quota, and report the usage of each user to the disk."""
        living = dict(self._store.board)
        sizes = {job_id: await self._measure(job_id) for job_id in living}
        most = self.quotas.job_bytes
        if most is not None:
            await self._store.apply_all(
                [
                    (job_id, _too_much(sizes[job_id], most, self._clock.now()))
                    for job_id, job in living.items()
                    if sizes[job_id] > most and job.state in (JobState.STARTING, JobState.RUNNING)
                ]
            )
        if self.quotas.person_bytes is not None:
            self._disk.taken_by = await self._sum_up(sizes)

    async def _sum_up(self, living: dict[str, int]) -> Counter[str]:
        owners = await self._store.read(owners_of_jobs)
        self._settled = {job_id: size for job_id, size in self._settled.items() if job_id in owners}
        taken: Counter[str] = Counter()
        for job_id, owner in owners.items():
            if job_id in living:
                taken[owner] += living[job_id]
                continue
            if job_id not in self._settled:
                self._settled[job_id] = await self._measure(job_id)
            taken[owner] += self._settled[job_id]
        return taken

    async def _measure(self, job_id: str) -> int:
        return await asyncio.to_thread(self._files.size_bytes, job_id)


def _too_much(taken: int, most: int, now: float) -> StopAsked:
    said = say("disk_quota_over", taken_bytes=taken, quota_bytes=most)
    return StopAsked(now, Reason(ReasonCode.DISK_QUOTA, said))
