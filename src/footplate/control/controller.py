"""The life of jobs after submit: admit, launch, watch, stop.

Every commit brings effects, and the controller carries them out: slow work runs in tasks of its own,
outside transactions, and reports back as events. Hints wake the loops; polling is only the fallback.
After a crash the effects that were due are found again from the states, and each is safe to repeat.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence

from footplate.control.admit import EXPLAIN_EVERY_S, Admission
from footplate.control.context import Context
from footplate.control.insist import insist
from footplate.control.lastwords import searcher
from footplate.control.launch import launch, launch_plan, remove, tell_step
from footplate.control.limits import overdue
from footplate.control.logkeeper import LogKeeper
from footplate.control.notice import give_notice
from footplate.control.progress import Progress
from footplate.control.sweep import pace_s, sweep, sweep_engine
from footplate.control.taskpauses import TaskPauses
from footplate.control.usagekeeper import UsageKeeper
from footplate.control.watch import events_from
from footplate.domain.errors import EngineRejected, EngineUnavailable, NotFound, StaleLease
from footplate.domain.events import (
    Effect,
    Event,
    LaunchTasks,
    OthersGone,
    RemoveJob,
    Reschedule,
    StopTasks,
    TaskExited,
    TaskLost,
    TasksGone,
)
from footplate.domain.job import Job
from footplate.domain.resources import GIB
from footplate.domain.secret import RegistryLogin
from footplate.domain.states import JobState, TaskState
from footplate.engines.base import (
    AbandonsLaunches,
    GivesHints,
    Handle,
    Observation,
    OffersNodes,
    PullsImages,
    Ran,
    RunsInside,
    Step,
    TellsSteps,
)
from footplate.store import job_queries
from footplate.store.store import Move, News

log = logging.getLogger(__name__)

POLL_S = 5.0
LIMITS_S = 0.5
NODES_S = 15.0
LOGS_S = 1.0
LEASE_S = 5.0
PROGRESS_S = 2.0
USAGE_S = 5.0
LEFTOVERS_S = 60.0
LOOK_AFTER_LAUNCH_S = 0.01
ABANDON_EVERY_S = 0.1
REPLAN_SOON_S = 0.02
FAULT_PAUSE_S = 1.0


class Controller:
    """Owns the loops; `start` begins them, `close` ends them and leaves the tasks of jobs alone."""

    def __init__(
        self,
        context: Context,
        log_cap_bytes: int = 4 * GIB,
        on_fatal: Callable[[BaseException], None] = lambda _error: None,
    ) -> None:
        self._context = context
        self._log_keeper = LogKeeper(context, log_cap_bytes)
        self._on_fatal = on_fatal
        self.admission = Admission(context, self.replan)
        self._progress = Progress(context, self._handle)
        self._usage_keeper = UsageKeeper(context, self._handle)
        self._replan = asyncio.Event()
        self._look = asyncio.Event()
        self._hinted: set[str] = set()
        # Hints about attempts that were still being launched.
        self._hinted_early: set[str] = set()
        self._launch_again: set[str] = set()
        self._delayed: set[tuple[str, int]] = set()
        self._task_pauses = TaskPauses(context.clock, self._end_pause)
        self._telling: set[asyncio.Task[None]] = set()
        self._work: dict[tuple[str, str, int], asyncio.Task[None]] = {}
        # With the runs of single tasks that each names: a task that is started again needs another.
        self._handles: dict[tuple[str, int], tuple[Mapping[tuple[str, int], int], Handle]] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._replan_soon: asyncio.TimerHandle | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._unsubscribe: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Find the nodes, take up what was under way, and begin to loop."""
        await self._refresh_nodes()
        self.admission.take_all()
        self.admission.run_times.learn(await self._context.store.read(job_queries.recently_succeeded))
        self._unsubscribe = self._context.store.subscribe(self._take_news)
        self._context.storage_watch.on_answer(self.replan)
        engine = self._context.engine
        if isinstance(engine, GivesHints):
            engine.on_change(self._take_hint)
        if isinstance(engine, TellsSteps):
            engine.on_step(self._take_step)
        if isinstance(engine, PullsImages):
            engine.use_logins(self._find_login)
            await self._sweep_engine()
        await self._recover()
        for name, step in (
            ("admit", self._admit),
            ("watch", self._watch),
            ("poll", _every(POLL_S, self._observe_all)),
            ("limits", _every(LIMITS_S, self._enforce_limits)),
            ("nodes", _every(NODES_S, self._refresh_nodes)),
            ("logs", _every(LOGS_S, self._log_keeper.look)),
            ("progress", _every(PROGRESS_S, self.look_at_progress)),
            ("usage", _every(USAGE_S, self._usage_keeper.look)),
            ("lease", _every(LEASE_S, self._hold_lease)),
            ("sweep", _every(pace_s(self._context), self.sweep, first_after_s=0)),
            ("leftovers", _every(LEFTOVERS_S, self._sweep_engine)),
            ("explain", _every(EXPLAIN_EVERY_S, self._explain_rest)),
        ):
            self._loops.append(asyncio.create_task(self._repeat(name, step), name=f"footplate-{name}"))

    async def close(self) -> None:
        self._unsubscribe()
        if self._alarm is not None:
            self._alarm.cancel()
        self._task_pauses.close()
        for task in (*self._loops, *self._work.values()):
            task.cancel()
        await asyncio.gather(*self._loops, *self._work.values(), return_exceptions=True)
        await self._context.storage_watch.close()
        await self._context.engine.close()

    def replan(self) -> None:
        """Ask for a scheduling pass soon."""
        self._replan.set()

    async def run_inside(self, job: Job, role: str, index: int, argv: Sequence[str], timeout_s: float) -> Ran:
        """Run a command where a task of a job runs or ran."""
        engine = self._context.engine
        if not isinstance(engine, RunsInside):
            raise EngineRejected("the engine of this server cannot run commands inside tasks")
        secrets = await self._context.secrets_of(job)
        request = engine.compile(launch_plan(self._context, job, secrets))
        return await engine.run_inside(request, role, index, argv, timeout_s)

    def _take_step(self, step: Step) -> None:
        job = self._context.store.board.get(step.attempt_id.rpartition(".")[0])
        if job is not None:
            telling = asyncio.create_task(tell_step(self._context, job, step))
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)

    async def _find_login(self, attempt_id: str, secret: str) -> RegistryLogin:
        job = self._context.store.board.get(attempt_id.rpartition(".")[0])
        if job is None:
            raise NotFound(f"attempt {attempt_id} is over: its image is no longer needed")
        return await self._context.login_of(job, secret)

    # Effects

    def _take_news(self, news: News) -> None:
        self.admission.take(news.jobs)
        self.admission.run_times.learn(job for job in news.jobs.values() if job and job.state.is_final)
        for job, effect in news.effects:
            if job.state.is_final:
                self._handles.pop((job.id, job.attempt), None)
            self._carry_out(job, effect)

    def _carry_out(self, job: Job, effect: Effect) -> None:
        match effect:
            case Reschedule():
                self._replan_for(job)
            case LaunchTasks():
                self._spawn("launch", job, self._launch(job))
            case StopTasks(grace_s=grace_s, keep=()):
                if ("stop", job.id, job.attempt) in self._work:
                    self._spawn("stop sooner", job, self._stop_sooner(job, grace_s))
                else:
                    self._spawn("stop", job, self._stop(job, grace_s))
            case StopTasks(grace_s=grace_s, keep=keep):
                self._spawn("stop others", job, self._stop_others(job, grace_s, keep))
            case RemoveJob():
                self._spawn("remove", job, self._remove(job))

    def _replan_for(self, job: Job) -> None:
        """Plan at once when room was given back; a new job behind others waits for company.

        One for which there is no room is looked at when the others are: nothing starts by its coming.
        """
        if self.admission.is_foretold(job):
            return
        if job.state is JobState.QUEUED and not job.attempt and not self.admission.has_room(job):
            return
        if job.state is not JobState.QUEUED or self.admission.n_waiting <= 1:
            self._replan.set()
        elif self._replan_soon is None:
            self._replan_soon = asyncio.get_running_loop().call_later(REPLAN_SOON_S, self._replan_now)

    def _replan_now(self) -> None:
        self._replan_soon = None
        self._replan.set()

    def _spawn(self, kind: str, job: Job, work: Coroutine[None, None, None]) -> None:
        key = (kind, job.id, job.attempt)
        if key in self._work:
            work.close()
            if kind == "launch":
                # A task was given another run meanwhile, which that launch may not know of.
                self._launch_again.add(job.id)
            return
        task = asyncio.create_task(work, name=f"footplate-{kind}-{job.id}")
        self._work[key] = task
        task.add_done_callback(lambda done: self._end_work(key, done))

    def _end_work(self, key: tuple[str, str, int], task: asyncio.Task[None]) -> None:
        self._work.pop(key, None)
        if key[0] == "launch":
            self._look_after_launch(f"{key[1]}.{key[2]}")
            self._repeat_launch(key[1])
        if not task.cancelled() and (error := task.exception()) is not None:
            self._report(f"{key[0]} of job {key[1]}", error)

    def _look_after_launch(self, attempt_id: str) -> None:
        if attempt_id in self._hinted_early:
            self._hinted_early.discard(attempt_id)
            self._take_hint(attempt_id)
        else:
            # A moment later: a task that is over by then costs one look and one commit, not two.
            asyncio.get_running_loop().call_later(LOOK_AFTER_LAUNCH_S, self._take_hint, attempt_id)

    def _repeat_launch(self, job_id: str) -> None:
        job = self._context.store.board.get(job_id)
        if job_id in self._launch_again:
            self._launch_again.discard(job_id)
            if job is not None and job.state in (JobState.STARTING, JobState.RUNNING):
                self._carry_out(job, LaunchTasks(job.attempt))

    async def _launch(self, job: Job) -> None:
        left_out = job.pausing(self._context.clock.now())
        handle = await insist(f"launching job {job.id}", lambda: launch(self._context, job, left_out))
        if handle is not None:
            self._handles[job.id, job.attempt] = (job.runs, handle)
        self._task_pauses.set_alarm(job, left_out)

    def _end_pause(self, job_id: str) -> None:
        self._launch_again.add(job_id)
        self._repeat_launch(job_id)

    async def _stop(self, job: Job, grace_s: float) -> None:
        await self._until_done(job, "launch", "stop others")
        seen = await insist(f"stopping job {job.id}", lambda: self._end(job, self._handle(job), grace_s))
        await insist(
            f"noting the end of job {job.id}",
            lambda: self._tell_end(job, seen, [self._gone(job)]),
        )
        self._handles.pop((job.id, job.attempt), None)

    async def _stop_sooner(self, job: Job, grace_s: float) -> None:
        """Shorten the grace of a stop that is under way, which then finds that all have ended."""
        await self._until_done(job, "launch")
        await self._context.engine.stop(self._handle(job), grace_s)

    def _gone(self, job: Job) -> TasksGone:
        return TasksGone(self._context.clock.now(), job.attempt, self._context.pauses)

    async def _stop_others(self, job: Job, grace_s: float, keep: Collection[tuple[str, int]]) -> None:
        """End all tasks but those whose environment is kept."""
        await self._until_done(job, "launch")
        others = [(task.role, task.index) for task in job.tasks if (task.role, task.index) not in keep]
        if others:
            engine = self._context.engine
            request = engine.compile(launch_plan(self._context, job))
            handle = engine.handle_of(request, others)
            seen = await insist(f"stopping job {job.id}", lambda: self._end(job, handle, grace_s))
            gone = OthersGone(self._context.clock.now(), job.attempt)
            await insist(f"noting ends in job {job.id}", lambda: self._tell_end(job, seen, [gone]))

    async def _end(self, job: Job, handle: Handle, grace_s: float) -> Sequence[Observation]:
        now = self._context.clock.now()
        if any(task.state is TaskState.RUNNING for task in job.tasks):
            await asyncio.to_thread(give_notice, self._context.home, job, now, grace_s)
        try:
            await self._context.engine.stop(handle, grace_s)
        except EngineUnavailable as error:
            await self._tell_delay(job, error.message)
            raise
        self._delayed.discard((job.id, job.attempt))
        return await self._context.engine.observe([handle])

    async def _tell_delay(self, job: Job, why: str) -> None:
        """Say once in the job's events why it does not end."""
        if (job.id, job.attempt) not in self._delayed:
            message = f"{why}; it is tried again, and what the job holds stays taken until then"
            now = self._context.clock.now()
            await self._context.store.write(lambda tx: tx.record(job, "end_delayed", now, message, why=why))
            self._delayed.add((job.id, job.attempt))

    async def _tell_end(self, job: Job, seen: Sequence[Observation], then: Sequence[Event]) -> None:
        current = self._context.store.board.get(job.id, job)
        moves = [*events_from(current, seen, self._context.clock.now()), *then]
        await self._context.store.apply_all((job.id, event) for event in moves)

    async def _until_done(self, job: Job, *kinds: str) -> None:
        engine, attempt_id = self._context.engine, f"{job.id}.{job.attempt}"
        for kind in kinds:
            under_way = self._work.get((kind, job.id, job.attempt))
            while under_way is not None and not under_way.done():
                if kind == "launch" and isinstance(engine, AbandonsLaunches):
                    # Time and again: what it waits for may have begun just now.
                    engine.abandon(attempt_id)
                await asyncio.wait([under_way], timeout=ABANDON_EVERY_S)

    async def _remove(self, job: Job) -> None:
        await self._until_done(job, "launch", "stop others", "stop")
        await insist(f"removing job {job.id}", lambda: remove(self._context, job))

    def _handle(self, job: Job) -> Handle:
        key, runs = (job.id, job.attempt), job.runs
        known = self._handles.get(key)
        if known is None or known[0] != runs:
            engine = self._context.engine
            handle = engine.handle_of(engine.compile(launch_plan(self._context, job)))
            known = self._handles[key] = (runs, handle)
        return known[1]

    # Loops

    async def _admit(self) -> None:
        await self._replan.wait()
        self._replan.clear()
        await self._pass()

    async def _explain_rest(self) -> None:
        if self.admission.n_waiting:
            self._replan.set()

    def _take_hint(self, attempt_id: str) -> None:
        self._hinted.add(attempt_id)
        self._look.set()

    async def _watch(self) -> None:
        await self._look.wait()
        self._look.clear()
        hinted, self._hinted = self._hinted, set()
        jobs = [self._context.store.board.get(attempt_id.rpartition(".")[0]) for attempt_id in hinted]
        found = [job for job in jobs if job is not None]
        self._hinted_early.update(f"{job.id}.{job.attempt}" for job in found if self._is_launching(job))
        await self._observe(found)

    async def _observe_all(self) -> None:
        await self._observe(list(self._context.store.board.values()))

    async def _observe(self, jobs: list[Job]) -> None:
        # An attempt that is still being launched is looked at when that is done.
        watched = {
            f"{job.id}.{job.attempt}": job
            for job in jobs
            if job.state in (JobState.STARTING, JobState.RUNNING) and not self._is_launching(job)
        }
        if not watched:
            return
        seen: dict[str, list[Observation]] = {}
        for one in await self._sights(list(watched.values())):
            seen.setdefault(one.attempt_id, []).append(one)
        now = self._context.clock.now()
        news: list[Move] = []
        for attempt_id, job in watched.items():
            search = searcher(self._context.home, job)
            events = events_from(job, seen.get(attempt_id, ()), now, search, self._context.pauses)
            news += [(job.id, event) for event in events]
        if any(isinstance(event, TaskExited | TaskLost) for _, event in news):
            await self._pass(news)
        else:
            await self._context.store.apply_all(news)

    def _is_launching(self, job: Job) -> bool:
        return ("launch", job.id, job.attempt) in self._work

    async def _sights(self, jobs: Sequence[Job]) -> Sequence[Observation]:
        """Look at these jobs; one that cannot be looked at must not hide the others."""
        try:
            return await self._context.engine.observe([self._handle(job) for job in jobs])
        except Exception as error:  # noqa: BLE001  # whatever a task did to its files, the others go on
            if len(jobs) == 1:
                self._report(f"looking at job {jobs[0].id}", error)
                return ()
            return [one for job in jobs for one in await self._sights([job])]

    async def _pass(self, news: Sequence[Move] = ()) -> None:
        done = False
        try:
            done = await self.admission.run_pass(news)
        finally:
            if not done:
                # What it decided did not come about: somebody must decide again.
                self._replan.set()
            self._set_alarm()

    def _set_alarm(self) -> None:
        """Plan again when the first pause of a waiting job is over."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if (wakes_at := self.admission.wakes_at) is not None:
            # Not less than a moment: a clock that stands still must not make us plan without end.
            wait_s = max(wakes_at - self._context.clock.now(), REPLAN_SOON_S)
            self._alarm = asyncio.get_running_loop().call_later(wait_s, self._replan.set)

    async def _enforce_limits(self) -> None:
        now = self._context.clock.now()
        board = list(self._context.store.board.values())
        await self._context.store.apply_all((job.id, event) for job in board if (event := overdue(job, now)))
        for job in board:
            if job.spec.keep_on_failure_s is not None and job.state is JobState.RUNNING:
                # What is kept goes on after its end, so that no engine may notice the end by itself.
                self._take_hint(f"{job.id}.{job.attempt}")

    async def _hold_lease(self) -> None:
        """Say that this server lives, and learn when another one has taken over."""
        await self._context.store.renew_lease(self._context.clock.now())

    async def look_at_progress(self) -> None:
        """Look once for tasks that make no progress."""
        await self._progress.look()

    async def sweep(self) -> None:
        """Forget once what nobody will ask for again."""
        await sweep(self._context)

    async def _sweep_engine(self) -> None:
        await sweep_engine(self._context)

    async def _refresh_nodes(self) -> None:
        engine = self._context.engine
        if isinstance(engine, OffersNodes) and self._context.cluster.take_nodes(await engine.nodes()):
            self._replan.set()

    async def _recover(self) -> None:
        for job in list(self._context.store.board.values()):
            if job.state is JobState.STARTING:
                self._carry_out(job, LaunchTasks(job.attempt))
            elif job.state is JobState.RUNNING and job.runs:
                # A task that was to be started again may not have been.
                self._carry_out(job, LaunchTasks(job.attempt))
            elif job.state is JobState.STOPPING:
                self._carry_out(job, StopTasks(job.attempt, job.grace_s, tuple(job.kept)))
        for job_id in await self._context.store.read(job_queries.to_remove):
            removing = await self._context.store.job(job_id)
            if removing is not None:
                self._carry_out(removing, RemoveJob())
        await self._observe_all()
        self._replan.set()

    async def _repeat(self, name: str, step: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await step()
            except Exception as error:  # noqa: BLE001  # the top of a loop: it reports and goes on
                self._report(f"the {name} loop", error)
                await asyncio.sleep(FAULT_PAUSE_S)

    def _report(self, what: str, error: BaseException) -> None:
        log.error("%s failed", what, exc_info=error)
        if isinstance(error, StaleLease):
            self._on_fatal(error)


def _every(
    seconds: float, step: Callable[[], Awaitable[None]], first_after_s: float | None = None
) -> Callable[[], Awaitable[None]]:
    wait_s = seconds if first_after_s is None else first_after_s

    async def paced() -> None:
        nonlocal wait_s
        await asyncio.sleep(wait_s)
        wait_s = seconds
        await step()

    return paced
