"""Observes attempts, on hints from the engine and by polling as a fallback, and turns changes into events."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from footplate.control.context import Context
from footplate.control.faults import Report
from footplate.control.followedlogs import FollowedLogs
from footplate.control.lastwords import searcher
from footplate.control.passes import Passes
from footplate.control.watch import events_from
from footplate.control.work import LAUNCH, JobWork
from footplate.domain.attempt import attempt_of, job_of
from footplate.domain.errors import EngineAway, EngineUnavailable
from footplate.domain.events import TaskExited, TaskLost
from footplate.domain.job import Job
from footplate.domain.redact import redact_message
from footplate.engines.backoff import Backoff
from footplate.engines.base import Engine, FollowsLogs, Observation, PlacesItself
from footplate.store.store import Move

AFTER_LAUNCH_S = 0.01
# So many jobs in a row that cannot be observed: it is the engine, and not they.
MOST_UNANSWERED = 3


class Observer:
    """Observes attempts through one engine, and tells the store what became of their tasks."""

    def __init__(
        self,
        context: Context,
        name: str,
        engine: Engine,
        work: JobWork,
        passes: Passes,
        report: Report,
    ) -> None:
        self._context = context
        self._name = name
        self._engine = engine
        # Asked of with every end of a task: such a check of a protocol takes longer than a small job's plan.
        self._follows = engine if isinstance(engine, FollowsLogs) else None
        self._places = engine if isinstance(engine, PlacesItself) else None
        self._work = work
        self._passes = passes
        self._report = report
        self._followed = FollowedLogs(context)
        self._backoff = Backoff(context.clock)
        self._health = context.engines.health[name]
        self._has_hints = asyncio.Event()
        self._hinted: set[str] = set()
        # Hints about attempts that were still being launched.
        self._hinted_early: set[str] = set()

    @property
    def is_paused(self) -> bool:
        """Whether the engine is left alone for now, since it did not answer."""
        return self._backoff.holds or self._health.holds

    def hint(self, attempt_id: str) -> None:
        """Observe an attempt soon."""
        self._hinted.add(attempt_id)
        self._has_hints.set()

    def hint_after_launch(self, attempt_id: str) -> None:
        if attempt_id in self._hinted_early:
            self._hinted_early.discard(attempt_id)
            self.hint(attempt_id)
        else:
            # A moment later: a task that is over by then costs one observation and one commit, not two.
            asyncio.get_running_loop().call_later(AFTER_LAUNCH_S, self.hint, attempt_id)

    async def observe_hinted(self) -> None:
        """Wait for hints, and observe the attempts that they name."""
        await self._has_hints.wait()
        self._has_hints.clear()
        hinted, self._hinted = self._hinted, set()
        jobs = [self._context.store.board.get(job_of(attempt_id)) for attempt_id in hinted]
        found = [job for job in jobs if job is not None]
        self._hinted_early.update(job.attempt_id for job in found if self._is_launching(job))
        await self._observe(found)

    async def observe_all(self) -> None:
        await self._observe(list(self._context.store.board.values()))

    async def _observe(self, jobs: list[Job]) -> None:
        # An attempt that is still being launched is observed when that is done.
        watched = {
            job.attempt_id: job
            for job in jobs
            if job.is_with_engine
            and self._context.engines.name_of(job) == self._name
            and not self._is_launching(job)
        }
        if not watched or self.is_paused:
            return
        seen: dict[str, list[Observation]] = {}
        found = await self._see(list(watched.values()))
        if self._follows is not None:
            await self._followed.keep_up(self._follows, watched.values(), found)
        for one in found:
            seen.setdefault(one.attempt_id, []).append(one)
        now = self._context.clock.now()
        news: list[Move] = []
        for attempt_id, job in watched.items():
            search = searcher(self._context.logs, job)
            observed = await self._redacted(job, seen.get(attempt_id, ()))
            events = events_from(job, observed, now, search, self._context.tuned.pauses)
            news += [(job.id, event) for event in events]
        if any(isinstance(event, TaskExited | TaskLost) for _, event in news):
            await self._passes.run(news)
        else:
            await self._context.store.apply_all(news)
        if self._places is not None:
            await self._read_waits(self._places, list(watched.values()))

    async def _redacted(self, job: Job, seen: Sequence[Observation]) -> Sequence[Observation]:
        """Hide secrets in what an engine says of ends: it may quote what a task has printed last."""
        if all(one.detail is None for one in seen):
            return seen
        hidden = await self._context.hidden_of(job)
        return [
            replace(one, detail=redact_message(one.detail, hidden)) if one.detail is not None else one
            for one in seen
        ]

    async def _read_waits(self, engine: PlacesItself, jobs: Sequence[Job]) -> None:
        """Learn how jobs wait in the engine; those that have started by now are not asked about."""
        store, now = self._context.store, self._context.clock.now()
        rows = [row for job in jobs if (row := store.board.get(job.id))]
        try:
            await self._context.waits.read(engine, rows, store, now)
        except EngineAway as error:
            self._health.fail(error.said)
            self._report(f"asking engine {self._name} how jobs wait", error)

    def _is_launching(self, job: Job) -> bool:
        return self._work.is_under_way(LAUNCH, job)

    async def _see(self, jobs: Sequence[Job]) -> Sequence[Observation]:
        """Observe these jobs; one that cannot be observed must not hide the others."""
        try:
            seen = await self._engine.observe([attempt_of(job) for job in jobs])
        except EngineAway as error:
            self._health.fail(error.said)
            self._report(f"observing the jobs of engine {self._name}", error)
            return ()
        except Exception as error:  # noqa: BLE001  # whatever a task did to its files, the others go on
            if len(jobs) > 1:
                return await self._see_one_by_one(jobs)
            self._report(f"observing job {jobs[0].id}", error)
            if isinstance(error, EngineUnavailable):
                self._backoff.fail()
            return ()
        self._backoff.succeed()
        self._health.succeed()
        return seen

    async def _see_one_by_one(self, jobs: Sequence[Job]) -> Sequence[Observation]:
        """Observe each by itself, unless the engine as a whole does not answer: then it is left alone."""
        seen: list[Observation] = []
        n_unanswered = 0
        for job in jobs:
            try:
                seen += await self._engine.observe([attempt_of(job)])
                n_unanswered = 0
            except Exception as error:  # noqa: BLE001  # as above
                self._report(f"observing job {job.id}", error)
                n_unanswered += isinstance(error, EngineUnavailable)
            if n_unanswered == MOST_UNANSWERED:
                self._backoff.fail()
                break
        return seen

    def forget(self, job: Job) -> None:
        """Let go of what is known of a job that is over."""
        self._followed.forget(job)

    async def close(self) -> None:
        await self._followed.close()


class Observers:
    """One observer for each engine: an engine that hangs keeps nobody from observing the others."""

    def __init__(self, context: Context, work: JobWork, passes: Passes, report: Report) -> None:
        self._context = context
        self.by_engine = {
            name: Observer(context, name, engine, work, passes, report) for name, engine in context.engines
        }

    def of(self, job: Job) -> Observer:
        name = self._context.engines.name_of(job)
        return self.by_engine.get(name) or self.by_engine[self._context.engines.default]

    def hint(self, attempt_id: str) -> None:
        """Observe an attempt soon."""
        job = self._context.store.board.get(job_of(attempt_id))
        if job is not None:
            self.of(job).hint(attempt_id)

    async def close(self) -> None:
        await asyncio.gather(*(observer.close() for observer in self.by_engine.values()))
