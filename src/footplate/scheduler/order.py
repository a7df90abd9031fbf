"""The order of waiting jobs: guaranteed before borrowed, then priority, then age, then id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter

from footplate.domain.resources import NOTHING
from footplate.scheduler.needs import Needs
from footplate.scheduler.shares import Share
from footplate.scheduler.snapshot import PendingJob

_rank = attrgetter("rank")


def in_order(pending: Iterable[PendingJob], needs: Needs, shares: Mapping[str, Share]) -> list[PendingJob]:
    """Sort the waiting jobs, first to start first."""
    ordered = sorted(pending, key=_rank)
    guaranteed = {s.queue.name: s for s in shares.values() if s.queue.guaranteed != NOTHING}
    return _guaranteed_first(ordered, needs, guaranteed) if guaranteed else ordered


def _guaranteed_first(
    ordered: list[PendingJob], needs: Needs, guaranteed: Mapping[str, Share]
) -> list[PendingJob]:
    """Move the jobs that their queue's guarantee covers to the front.

    Each queue hands its guarantee out to its own jobs in order, whether they can start now or not,
    so that a hundred small jobs do not all count as covered by the same four GPUs.
    """
    left = {name: share.queue.guaranteed - share.used for name, share in guaranteed.items()}
    covered, borrowing = [], []
    for job in ordered:
        need = needs.find(job)
        if not need.borrows:
            need.borrows = job.queue not in left or not need.total.fits_in(left[job.queue])
        if need.borrows:
            borrowing.append(job)
        else:
            left[job.queue] = left[job.queue] - need.total
            covered.append(job)
    return covered + borrowing
