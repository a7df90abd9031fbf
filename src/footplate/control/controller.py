"""The life of jobs after submit, put together: who carries out which effect, and which loops there are.

Every commit brings effects: slow work runs outside transactions, and reports back as events. Hints wake the
loops; polling is only the fallback. A new effect is one module and one line in `_effects`, a new loop one
line in `_loops`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from footplate.control import commands
from footplate.control.admit import EXPLAIN_EVERY_S
from footplate.control.callbacks import Callbacks
from footplate.control.context import Context
from footplate.control.effects import CarryOut, dispatcher
from footplate.control.faults import reporter
from footplate.control.launches import Launches
from footplate.control.limits import enforce_limits
from footplate.control.logkeeper import LogKeeper
from footplate.control.loops import Loop, Loops
from footplate.control.nodes import refresh_nodes
from footplate.control.observe import Observer
from footplate.control.passes import Passes
from footplate.control.progress import Progress
from footplate.control.recover import recover
from footplate.control.removals import Removals
from footplate.control.stops import Stops
from footplate.control.sweep import pace_s, sweep, sweep_engine
from footplate.control.usagekeeper import UsageKeeper
from footplate.control.work import JobWork
from footplate.domain.events import LaunchTasks, RemoveJob, Reschedule, StopTasks
from footplate.domain.resources import GIB
from footplate.store import job_queries
from footplate.store.store import News

POLL_S = 5.0
LIMITS_S = 0.5
NODES_S = 15.0
LOGS_S = 1.0
LEASE_S = 5.0
PROGRESS_S = 2.0
USAGE_S = 5.0
LEFTOVERS_S = 60.0


class Controller:
    """Owns the loops; `start` begins them, `close` ends them and leaves the tasks of jobs alone."""

    def __init__(
        self,
        context: Context,
        log_cap_bytes: int = 4 * GIB,
        on_fatal: Callable[[BaseException], None] = lambda _error: None,
    ) -> None:
        self._context = context
        report = reporter(on_fatal)
        self._work = JobWork(context, report)
        self._passes = Passes(context)
        self._observer = Observer(context, self._work, self._passes, report)
        self._launches = Launches(context, self._work, self._observer)
        self._carry_out = self._effects()
        self._log_keeper = LogKeeper(context, log_cap_bytes)
        self._progress = Progress(context)
        self._usage_keeper = UsageKeeper(context)
        self._callbacks = Callbacks(context, self._observer)
        self._running = Loops(report)
        self._unsubscribe: Callable[[], None] = lambda: None
        self.admission = self._passes.admission
        self.replan = self._passes.ask
        self.run_inside = partial(commands.run_inside, context)
        # One round of a loop, for whoever cannot wait for it.
        self.look_at_progress = self._progress.look
        self.sweep = partial(sweep, context)

    def _effects(self) -> CarryOut:
        return dispatcher(
            {
                Reschedule: self._passes.reschedule,
                LaunchTasks: self._launches.launch,
                StopTasks: Stops(self._context, self._work).stop,
                RemoveJob: Removals(self._context, self._work).remove,
            }
        )

    def _loops(self) -> tuple[Loop, ...]:
        context, observer, passes = self._context, self._observer, self._passes
        return (
            Loop("admit", passes.run_when_asked),
            Loop("watch", observer.observe_hinted),
            Loop("poll", observer.observe_all, POLL_S),
            Loop("limits", partial(enforce_limits, context, observer.hint), LIMITS_S),
            Loop("nodes", partial(refresh_nodes, context, passes.ask), NODES_S),
            Loop("logs", self._log_keeper.look, LOGS_S),
            Loop("progress", self._progress.look, PROGRESS_S),
            Loop("usage", self._usage_keeper.look, USAGE_S),
            Loop("lease", self._hold_lease, LEASE_S),
            Loop("sweep", self.sweep, pace_s(context), first_after_s=0),
            Loop("leftovers", partial(sweep_engine, context), LEFTOVERS_S),
            Loop("explain", passes.explain_rest, EXPLAIN_EVERY_S),
        )

    async def start(self) -> None:
        """Find the nodes, take up what was under way, and begin to loop."""
        store = self._context.store
        await refresh_nodes(self._context, self.replan)
        self.admission.take_all()
        self.admission.run_times.learn(await store.read(job_queries.recently_succeeded))
        self._unsubscribe = store.subscribe(self._take_news)
        self._context.storage_watch.on_answer(self.replan)
        self._callbacks.connect()
        await sweep_engine(self._context)
        await recover(store, self._carry_out)
        await self._observer.observe_all()
        self.replan()
        self._running.start(self._loops())

    async def close(self) -> None:
        self._unsubscribe()
        self._passes.close()
        self._launches.close()
        await self._running.close()
        await self._work.close()
        await self._observer.close()
        await self._context.storage_watch.close()
        await self._context.engine.close()

    def _take_news(self, news: News) -> None:
        self.admission.take(news.jobs)
        self.admission.run_times.learn(job for job in news.jobs.values() if job and job.state.is_final)
        for job, effect in news.effects:
            if job.state.is_final:
                self._observer.forget(job)
            self._carry_out(job, effect)

    async def _hold_lease(self) -> None:
        """Say that this server lives, and learn when another one has taken over."""
        await self._context.store.renew_lease(self._context.clock.now())
