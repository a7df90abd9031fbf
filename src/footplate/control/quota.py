"""Disk quotas: how much space the files of one job, and of all jobs of one user, may take."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from footplate.domain.clock import Clock
from footplate.domain.events import StopAsked
from footplate.domain.job import Job
from footplate.domain.messages import say
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.store import kept_queries
from footplate.store.disk import Disk
from footplate.store.jobfiles import JobFiles
from footplate.store.store import Store

WATCH_EVERY_S = 30.0
# Sooner where so much was written since that somebody may be over a quota by now.
LOOK_EVERY_S = 2.0
# For each second that files are measured, so many seconds pass before the next time.
REST = 10.0
# Jobs that have just ended; the rest counts a little later.
MOST_UNMEASURED = 1000
WRITING = (JobState.STARTING, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class Quotas:
    """None for no bound."""

    job_bytes: int | None = None
    person_bytes: int | None = None

    @property
    def are_set(self) -> bool:
        return self.job_bytes is not None or self.person_bytes is not None


class QuotaKeeper:
    """Measures the folders of jobs from time to time, and sooner when the disk fills."""

    def __init__(self, store: Store, files: JobFiles, clock: Clock, disk: Disk, quotas: Quotas) -> None:
        self._store = store
        self._files = files
        self._clock = clock
        self._disk = disk
        self.quotas = quotas
        # What was free when the files were measured last, and the least that somebody could add to them.
        self._free_bytes: int | None = None
        self._headroom_bytes: int | None = None
        self._measured_at: float | None = None
        self._took_s = 0.0

    async def watch(self) -> None:
        """Measure when it is time, as long as there is a quota; admins may set one at any time."""
        began = self._clock.elapsed()
        if not self.quotas.are_set or not self._is_time(began):
            return
        try:
            await self.watch_once()
        finally:
            self._measured_at = self._clock.elapsed()
            self._took_s = self._measured_at - began

    def _is_time(self, now: float) -> bool:
        if self._measured_at is None:
            return True
        rested_s = now - self._measured_at
        return rested_s >= WATCH_EVERY_S or (self.is_due and rested_s >= REST * self._took_s)

    @property
    def is_due(self) -> bool:
        """Whether the disk has lost more since the last look than somebody had left of a quota.

        Whoever has less than nothing left waits for what they delete to be counted.
        """
        then, now, headroom = self._free_bytes, self._disk.free_bytes, self._headroom_bytes
        if then is None or now is None or headroom is None:
            return False
        return headroom < 0 or then - now > headroom

    async def watch_once(self) -> None:
        """Stop jobs over their quota, and report the usage of each user to the disk."""
        self._free_bytes, self._headroom_bytes = self._disk.free_bytes, None
        # Before the jobs that live: what ends meanwhile counts once, or not at all for this time.
        taken = None if self.quotas.person_bytes is None else await self._taken_by_ended()
        living = dict(self._store.board)
        sizes = {job_id: await self._measure(job_id) for job_id in living}
        left = await self._stop_large(living, sizes)
        if taken is not None and self.quotas.person_bytes is not None:
            for job_id, job in living.items():
                taken[job.owner] += sizes[job_id]
            self._disk.taken_by = taken
            left += [self.quotas.person_bytes - one for one in (*taken.values(), 0)]
        self._headroom_bytes = min(left, default=None)

    async def _stop_large(self, living: Mapping[str, Job], sizes: Mapping[str, int]) -> list[int]:
        """Stop jobs over their quota; the result is how much others may add, those to come included."""
        most = self.quotas.job_bytes
        if most is None:
            return []
        writing = [job_id for job_id, job in living.items() if job.state in WRITING]
        large = [job_id for job_id in writing if sizes[job_id] > most]
        now = self._clock.now()
        await self._store.apply_all([(job_id, _too_much(sizes[job_id], most, now)) for job_id in large])
        return [most, *(most - sizes[job_id] for job_id in writing if job_id not in large)]

    async def _taken_by_ended(self) -> Counter[str]:
        """What is kept of jobs that are over: as measured after their end, less what was swept since."""
        known = await self._store.read(kept_queries.by_owner)
        taken = Counter({owner: sizes.total for owner, (_, sizes) in known.items()})
        query = partial(kept_queries.unmeasured, most=MOST_UNMEASURED)
        for job_id, owner in (await self._store.read(query)).items():
            taken[owner] += await self._measure(job_id)
        return taken

    async def _measure(self, job_id: str) -> int:
        return await asyncio.to_thread(self._files.size_bytes, job_id)


def _too_much(taken: int, most: int, now: float) -> StopAsked:
    said = say("disk_quota_over", taken_bytes=taken, quota_bytes=most)
    return StopAsked(now, Reason(ReasonCode.DISK_QUOTA, said))
