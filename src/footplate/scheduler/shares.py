"""Queue shares: how much each queue uses, and what it reserves for its first waiting job."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from footplate.domain.cluster import Queue
from footplate.domain.resources import NOTHING, Resources, total
from footplate.scheduler.snapshot import RunningJob, Snapshot


@dataclass(slots=True)
class Kept:
    """Part of a queue's maximum that a waiting job needs from `at` on; `spare` is what it leaves."""

    job_id: str
    at: float | None
    spare: Resources


@dataclass(slots=True)
class Share:
    """The account of one queue that has a share or a maximum."""

    queue: Queue
    used: Resources
    kept: Kept | None = None

    def has_room(self, asked: Resources) -> bool:
        return self.queue.maximum is None or is_within(asked, self.queue.maximum - self.used)

    def is_kept_from(self, asked: Resources, ends_at: float) -> bool:
        """Tell whether this start would use what is reserved of the maximum for the first waiting job."""
        return (
            self.kept is not None
            and not is_over_by(ends_at, self.kept.at)
            and not is_within(asked, self.kept.spare)
        )

    def take(self, asked: Resources, ends_at: float) -> None:
        self.used = self.used + asked
        if self.kept and not is_over_by(ends_at, self.kept.at):
            self.kept.spare = self.kept.spare - asked


def is_within(asked: Resources, room: Resources) -> bool:
    """Tell whether an amount fits; what is not asked for may be overdrawn, as after a maximum was lowered."""
    return (
        (asked.milli_cpus <= room.milli_cpus or not asked.milli_cpus)
        and (asked.memory_bytes <= room.memory_bytes or not asked.memory_bytes)
        and (asked.gpus <= room.gpus or not asked.gpus)
    )


def is_over_by(ends_at: float, at: float | None) -> bool:
    return at is not None and ends_at <= at


def shares_of(snapshot: Snapshot) -> dict[str, Share]:
    """Open the accounts of the queues whose use matters."""
    counted = {q.name: q for q in snapshot.queues if q.maximum is not None or q.share != NOTHING}
    if not counted:
        return {}
    used = _use_by_queue(snapshot.running)
    return {name: Share(queue, used.get(name, NOTHING)) for name, queue in counted.items()}


def _use_by_queue(running: Iterable[RunningJob]) -> Mapping[str, Resources]:
    sums: dict[str, list[int]] = {}
    for job in running:
        used = sums.setdefault(job.queue, [0, 0, 0])
        for task in job.placement.tasks:
            amount = task.resources
            used[0] += amount.milli_cpus
            used[1] += amount.memory_bytes
            used[2] += amount.gpus
    return {name: Resources(*used) for name, used in sums.items()}


def keep_until_below_maximum(
    share: Share, job_id: str, asked: Resources, running: Iterable[RunningJob]
) -> None:
    """Keep room in a full queue for the first of its jobs that is over the maximum.

    Without this, small jobs of the same queue would fill every gap that the big one waits for.
    """
    maximum = share.queue.maximum
    if share.kept or maximum is None or not asked.fits_in(maximum):
        return
    used, at = share.used, None
    for job in _by_end(share.queue.name, running):
        used, at = used - job.placement.resources, job.ends_by
        if is_within(asked, maximum - used):
            break
    share.kept = Kept(job_id, at, maximum - used - asked)


def keep_from(
    share: Share, job_id: str, asked: Resources, at: float | None, running: Iterable[RunningJob]
) -> None:
    """Keep room below the maximum for a job that has nodes reserved from `at` on."""
    maximum = share.queue.maximum
    if share.kept or maximum is None:
        return
    over = [job for job in running if job.queue == share.queue.name and is_over_by(_ends(job), at)]
    used = share.used - total(job.placement.resources for job in over)
    share.kept = Kept(job_id, at, maximum - used - asked)


def _by_end(queue: str, running: Iterable[RunningJob]) -> list[RunningJob]:
    return sorted((job for job in running if job.queue == queue), key=lambda job: (_ends(job), job.id))


def _ends(job: RunningJob) -> float:
    return math.inf if job.ends_by is None else job.ends_by
