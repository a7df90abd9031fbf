"""How long jobs like this one have run before."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from statistics import quantiles

from footplate.domain.job import Job
from footplate.domain.listing import JobLine
from footplate.domain.states import JobState

KEPT_OF_A_KIND = 50
MOST_KINDS = 5000

Kind = tuple[str, str]


def kind_of(owner: str, name: str) -> Kind:
    """Jobs of one owner whose names differ only in numbers at the end are of one kind."""
    return owner, re.sub(r"[-_.~]?\d+$", "", name)


class RunTimes:
    """Remembers the run times of ended jobs, newest first to stay."""

    def __init__(self) -> None:
        self._by_kind: dict[Kind, deque[float]] = {}

    def learn(self, ended: Iterable[Job | JobLine]) -> None:
        """Learn the durations of jobs that succeeded; all others are ignored."""
        for job in ended:
            name = job.spec.name if isinstance(job, Job) else job.name
            if job.state is not JobState.SUCCEEDED or job.running_at is None or job.finished_at is None:
                continue
            kind = kind_of(job.owner, name)
            if kind not in self._by_kind and len(self._by_kind) >= MOST_KINDS:
                self._by_kind.pop(next(iter(self._by_kind)))
            times = self._by_kind.setdefault(kind, deque(maxlen=KEPT_OF_A_KIND))
            times.append(max(0.0, job.finished_at - job.running_at))

    def usual(self, kind: Kind) -> tuple[float, float] | None:
        """The middle and the longer run times of a kind (the median and nine tenths), if any is known."""
        times = self._by_kind.get(kind)
        if not times:
            return None
        if len(times) == 1:
            return times[0], times[0]
        cuts = quantiles(times, n=10, method="inclusive")
        return cuts[4], cuts[8]
