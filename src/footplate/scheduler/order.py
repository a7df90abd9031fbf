"""The order of waiting jobs: within the queue's share before borrowed, then priority, then age, then id."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from footplate.domain.resources import NOTHING
from footplate.scheduler.line import Line
from footplate.scheduler.needs import Needs
from footplate.scheduler.shares import Share
from footplate.scheduler.snapshot import PendingJob


def covered(
    line: Line, left_out: Collection[str], needs: Needs, shares: Mapping[str, Share]
) -> dict[str, PendingJob]:
    """Find the jobs that the share of their queue covers, in order: they go before all others.

    Each queue hands its share out to its own jobs in order, whether they can start now or not,
    so that a hundred small jobs do not all count as covered by the same four GPUs.
    """
    sharing = {name: one for name, one in shares.items() if one.queue.share != NOTHING}
    left = {name: one.queue.share - one.used for name, one in sharing.items()}
    found: dict[str, PendingJob] = {}

    def meets(job: PendingJob) -> bool:
        if job.queue not in left:
            return False
        if job.id in left_out:
            return True
        need = needs.find(job)
        if need.borrows or not need.total.fits_in(left[job.queue]):
            need.borrows = True
            return False
        left[job.queue] = left[job.queue] - need.total
        found[job.id] = job
        return True

    if left:
        line.visit(meets)
    return found


def put_first(first: Mapping[str, PendingJob], ordered: Iterable[PendingJob]) -> list[PendingJob]:
    """Move some jobs to the front."""
    return [*first.values(), *(job for job in ordered if job.id not in first)] if first else list(ordered)
