"""The handles of attempts, by which an engine knows them."""

from __future__ import annotations

from collections.abc import Mapping

from footplate.control.context import Context
from footplate.control.launch import launch_plan
from footplate.domain.job import Job
from footplate.engines.base import Handle


class Handles:
    """Compiles a launch again to learn its handle, unless it is known."""

    def __init__(self, context: Context) -> None:
        self._context = context
        # With the runs of single tasks that each names: a task that is started again needs another.
        self._known: dict[tuple[str, int], tuple[Mapping[tuple[str, int], int], Handle]] = {}

    def of(self, job: Job) -> Handle:
        key, runs = (job.id, job.attempt), job.runs
        known = self._known.get(key)
        if known is None or known[0] != runs:
            engine = self._context.engine
            handle = engine.handle_of(engine.compile(launch_plan(self._context, job)))
            known = self._known[key] = (runs, handle)
        return known[1]

    def keep(self, job: Job, handle: Handle) -> None:
        self._known[job.id, job.attempt] = (job.runs, handle)

    def forget(self, job: Job) -> None:
        self._known.pop((job.id, job.attempt), None)
