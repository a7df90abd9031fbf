"""The life of jobs after submit, put together: who carries out which effect, and which loops there are.

Every commit brings effects: slow work runs outside transactions, and reports back as events. Hints wake the
loops; polling is only the fallback. A new effect is one module and one line in `_effects`, a new loop one
line in `_loops`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from footplate.control.admit import EXPLAIN_EVERY_S
from footplate.control.callbacks import Callbacks
from footplate.control.collect import Collector
from footplate.control.context import Context
from footplate.control.effects import CarryOut, dispatcher
from footplate.control.environments import Environments, sweep_environments
from footplate.control.faults import reporter
from footplate.control.launches import Launches
from footplate.control.limits import enforce_limits
from footplate.control.logkeeper import LogKeeper
from footplate.control.loops import Loop, Loops
from footplate.control.nodes import refresh_nodes
from footplate.control.observe import Observers
from footplate.control.passes import Passes
from footplate.control.progress import Progress
from footplate.control.recover import recover
from footplate.control.removals import Removals
from footplate.control.results import ResultsKeeper
from footplate.control.stops import Stops
from footplate.control.sweep import OFTEN_S, Sweeper, sweep, sweep_engine, sweep_staged
from footplate.control.taskstreams import TaskStreams
from footplate.control.usagekeeper import UsageKeeper
from footplate.control.viewers import Viewers
from footplate.control.work import JobWork
from footplate.domain.events import LaunchTasks, RemoveJob, Reschedule, StopTasks
from footplate.domain.job import Job
from footplate.domain.messages import say
from footplate.domain.resources import GIB
from footplate.engines.base import Engine, OffersNodes
from footplate.store import job_queries
from footplate.store.store import News

POLL_S = 5.0
LIMITS_S = 0.5
NODES_S = 15.0
LOGS_S = 1.0
METRICS_S = 3.0
LEASE_S = 5.0
PROGRESS_S = 2.0
USAGE_S = 1.0
LEFTOVERS_S = 60.0
ENVIRONMENTS_S = 900.0
STAGED_S = 600.0
RESULTS_S = 5.0


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
        self.observers = Observers(context, self._work, self._passes, report)
        self._launches = Launches(context, self._work, self.observers)
        self._carry_out = self._effects()
        self._collector = Collector(context)
        self.collect_metrics = self._collector.collect
        self._log_keeper = LogKeeper(context, log_cap_bytes)
        self._progress = {name: Progress(context, name, engine) for name, engine in context.engines}
        self._callbacks = Callbacks(context, self.observers)
        self._results = ResultsKeeper(context)
        self._await_engines()
        self._running = Loops(report)
        self._unsubscribe: Callable[[], None] = lambda: None
        self.admission = self._passes.admission
        self.replan = self._passes.ask
        self.pass_times = self._passes.times
        self.streams = TaskStreams(context)
        self.environments = Environments(context)
        self.viewers = Viewers(context)
        self.silent_storages = context.storage_watch.silences
        # One round of a loop, for whoever cannot wait for it.
        self.sweep = partial(sweep, context)

    def _await_engines(self) -> None:
        """Plan again when an engine goes away or comes back; a start waits for the default one alone."""
        for name, engine in self._context.engines:
            health = self._context.engines.health[name]
            health.on_change(self._passes.ask)
            if isinstance(engine, OffersNodes) and name != self._context.engines.default:
                health.doubt(say("engine_not_heard"))

    def _effects(self) -> CarryOut:
        return dispatcher(
            {
                Reschedule: self._passes.reschedule,
                LaunchTasks: self._launches.launch,
                StopTasks: Stops(self._context, self._work).stop,
                RemoveJob: Removals(self._context, self._work).remove,
            }
        )

    def _loops(self) -> Iterator[Loop]:
        context, passes = self._context, self._passes
        yield Loop("admit", passes.run_when_asked)
        yield Loop("limits", partial(enforce_limits, context, self.observers.hint), LIMITS_S)
        yield Loop("logs", self._log_keeper.sample, LOGS_S)
        yield Loop("results", self._results.save_due, RESULTS_S)
        yield Loop("metrics", self._collector.collect, METRICS_S)
        yield Loop("lease", self._hold_lease, LEASE_S)
        yield Loop("sweep", Sweeper(context).sweep_when_due, OFTEN_S, first_after_s=0)
        yield Loop("explain", passes.explain_rest, EXPLAIN_EVERY_S)
        for name, engine in context.engines:
            yield from self._loops_of(name, engine)

    def _loops_of(self, name: str, engine: Engine) -> Iterator[Loop]:
        """The loops that ask an engine: one that does not answer holds up its own only."""
        context, observer = self._context, self.observers.by_engine[name]
        # A start waits for the default engine alone: the others are asked as soon as the server runs.
        first_s = None if name == context.engines.default else 0.0
        yield Loop(f"watch {name}", observer.observe_hinted)
        yield Loop(f"poll {name}", observer.observe_all, POLL_S, first_s)
        yield Loop(f"nodes {name}", partial(self.refresh_nodes, name), NODES_S, first_s)
        yield Loop(f"progress {name}", self._progress[name].watch, PROGRESS_S)
        yield Loop(f"usage {name}", UsageKeeper(context, name, engine).sample, USAGE_S)
        yield Loop(f"staged data {name}", partial(sweep_staged, context, engine), STAGED_S, first_s)
        yield Loop(f"environments {name}", partial(sweep_environments, context, engine), ENVIRONMENTS_S)
        yield Loop(f"leftovers {name}", partial(sweep_engine, context, engine), LEFTOVERS_S, first_s)

    async def refresh_nodes(self, name: str) -> None:
        """Ask an engine once which nodes it has."""
        await refresh_nodes(self._context, name, self._context.engines[name], self.replan)

    def idle_s(self, job: Job) -> float | None:
        """For how long no task of a job has made progress; None where nobody watches it."""
        return self._progress[self._context.engines.name_of(job)].idle_s(job)

    async def watch_progress(self) -> None:
        """Check once for tasks that make no progress."""
        for progress in self._progress.values():
            await progress.watch()

    async def start(self) -> None:
        """Find the nodes, take up what was under way, and begin to loop."""
        store, (name, default) = self._context.store, next(iter(self._context.engines))
        await self.refresh_nodes(name)
        self.admission.take_all()
        self.admission.durations.learn(await store.read(job_queries.recently_succeeded))
        self._unsubscribe = store.subscribe(self._take_news)
        self._context.storage_watch.on_answer(self.replan)
        self._context.disk.on_change(self.replan)
        for _, engine in self._context.engines:
            self._callbacks.connect(engine)
        await sweep_engine(self._context, default)
        await recover(store, self._carry_out)
        await self._results.recover()
        await self.observers.by_engine[name].observe_all()
        self.replan()
        self._running.start(self._loops())

    async def close(self) -> None:
        self._unsubscribe()
        self._passes.close()
        self._launches.close()
        await self._running.close()
        await self._work.close()
        await self._results.close()
        await self.observers.close()
        await self._context.storage_watch.close()
        await self._context.engines.close()
        self._context.usage.close()

    def _take_news(self, news: News) -> None:
        # As they stand by now: the scheduler may have seen a later commit already, after one that failed.
        board = self._context.store.board
        self.admission.take({job_id: board.get(job_id) for job_id in news.jobs})
        self._results.take(news.jobs.values())
        self.admission.durations.learn(job for job in news.jobs.values() if job and job.state.is_final)
        for job, effect in news.effects:
            if job.state.is_final:
                self.observers.of(job).forget(job)
                self._context.waits.forget(job)
                self._collector.note_end(job)
                self._context.activity.forget(job.id)
            self._carry_out(job, effect)

    async def _hold_lease(self) -> None:
        """Say that this server lives, and learn when another one has taken over."""
        await self._context.store.renew_lease(self._context.clock.now())
