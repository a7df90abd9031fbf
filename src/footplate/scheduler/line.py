"""The waiting jobs, equal ones together: a pass looks at each need, and not at each of a thousand jobs.

A group is of one queue, one shape and one time limit. Where one of its jobs finds no room, those behind it
find none either, so they need not be looked at.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from heapq import heapify, heappop, heapreplace
from operator import attrgetter

from footplate.scheduler.snapshot import PendingJob

Key = tuple[str, int, float | None, bool]
Group = Sequence[PendingJob]
rank = attrgetter("rank")


class Line:
    """The jobs that wait at one moment."""

    def __init__(self, groups: Iterable[Group]) -> None:
        # Each in order of rank.
        self.groups = tuple(groups)

    @classmethod
    def of(cls, jobs: Iterable[PendingJob]) -> Line:
        """Find the groups; those of a line are known."""
        return jobs if isinstance(jobs, Line) else Waiting(jobs).line()

    def __len__(self) -> int:
        return sum(map(len, self.groups))

    def __iter__(self) -> Iterator[PendingJob]:
        return iter(self.by_rank)

    @cached_property
    def by_rank(self) -> tuple[PendingJob, ...]:
        return tuple(sorted((job for group in self.groups for job in group), key=rank))

    def visit(self, meets: Callable[[PendingJob], bool]) -> None:
        """Meet the jobs in order of rank; once told False, nobody else of that group."""
        heads = [(group[0].rank, number, 0) for number, group in enumerate(self.groups)]
        heapify(heads)
        while heads:
            _, number, position = heads[0]
            group = self.groups[number]
            if meets(group[position]) and position + 1 < len(group):
                heapreplace(heads, (group[position + 1].rank, number, position + 1))
            else:
                heappop(heads)


class Waiting:
    """The line as it changes."""

    def __init__(self, jobs: Iterable[PendingJob] = ()) -> None:
        self._jobs: dict[str, PendingJob] = {}
        self._groups: dict[Key, list[PendingJob]] = {}
        for job in jobs:
            self.put(job)

    def put(self, job: PendingJob) -> None:
        """Let a job wait, or wait with other needs than before."""
        self.discard(job.id)
        self._jobs[job.id] = job
        insort(self._groups.setdefault(_key(job), []), job, key=rank)

    def discard(self, job_id: str) -> None:
        job = self._jobs.pop(job_id, None)
        if job is None:
            return
        key = _key(job)
        group = self._groups[key]
        del group[bisect_left(group, job.rank, key=rank)]
        if not group:
            del self._groups[key]

    def clear(self) -> None:
        self._jobs.clear()
        self._groups.clear()

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[str]:
        return iter(self._jobs)

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._jobs

    def __getitem__(self, job_id: str) -> PendingJob:
        return self._jobs[job_id]

    def line(self) -> Line:
        """See who waits now, whatever comes later."""
        return Line(map(tuple, self._groups.values()))


def _key(job: PendingJob) -> Key:
    # To hash a shape takes long. Equal ones nearly always are one object, which its group keeps alive.
    return job.queue, id(job.shape), job.time_limit_s, job.pause is not None
