"""Makes the ids of jobs."""

from __future__ import annotations

import random

from footplate.domain.ids import job_id


class JobIds:
    """Each id sorts behind the one before it: however many jobs come in one instant, none is made twice."""

    def __init__(self) -> None:
        self._last = ""

    def make(self, at: float) -> str:
        self._last = job_id(at, random.getrandbits(20), after=self._last)
        return self._last
