"""How long jobs like this one have run before."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from statistics import quantiles

from footplate.domain.job import Job
from footplate.domain.listing import JobLine
from footplate.domain.states import JobState

KEPT_OF_A_SERIES = 50
MOST_SERIES = 5000

Series = tuple[str, str]


def series_of(owner: str, name: str) -> Series:
    """Jobs of one owner whose names differ only in numbers at the end are of one series."""
    return owner, re.sub(r"[-_.~]?\d+$", "", name)


class Durations:
    """Remembers the run times of ended jobs, newest first to stay."""

    def __init__(self) -> None:
        self._by_series: dict[Series, deque[float]] = {}

    def learn(self, ended: Iterable[Job | JobLine]) -> None:
        """Learn the durations of jobs that succeeded; all others are ignored."""
        for job in ended:
            name = job.spec.name if isinstance(job, Job) else job.name
            if job.state is not JobState.SUCCEEDED or job.running_at is None or job.finished_at is None:
                continue
            series = series_of(job.owner, name)
            if series not in self._by_series and len(self._by_series) >= MOST_SERIES:
                self._by_series.pop(next(iter(self._by_series)))
            times = self._by_series.setdefault(series, deque(maxlen=KEPT_OF_A_SERIES))
            times.append(max(0.0, job.finished_at - job.running_at))

    def usual(self, series: Series) -> tuple[float, float] | None:
        """The middle and the longer run times of a series (the median and nine tenths), if any is known."""
        times = self._by_series.get(series)
        if not times:
            return None
        if len(times) == 1:
            return times[0], times[0]
        cuts = quantiles(times, n=10, method="inclusive")
        return cuts[4], cuts[8]
