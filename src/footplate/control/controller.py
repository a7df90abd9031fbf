"""The life of jobs after submit: admit, launch, watch, stop.

Every commit brings effects, and the controller carries them out: slow work runs in tasks of its own,
outside transactions, and reports back as events. Hints wake the loops; polling is only the fallback.
After a crash the effects that were due are found again from the states, and each is safe to repeat.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TypeVar

from footplate.control.admit import EXPLAIN_EVERY_S, Admission
from footplate.control.context import Context
from footplate.control.launch import launch, launch_plan, remove
from footplate.control.limits import overdue
from footplate.control.logkeeper import LogKeeper
from footplate.control.watch import events_from
from footplate.domain.errors import StaleLease
from footplate.domain.events import (
    Effect,
    Event,
    LaunchTasks,
    RemoveJob,
    Reschedule,
    StopTasks,
    TaskExited,
    TaskLost,
    TasksGone,
)
from footplate.domain.job import Job
from footplate.domain.resources import GIB
from footplate.domain.states import JobState
from footplate.engines.base import GivesHints, Handle, Observation, OffersNodes
from footplate.store import job_queries
from footplate.store.account_queries import remove_expired_tokens
from footplate.store.store import Move, News

log = logging.getLogger(__name__)

POLL_S = 5.0
LIMITS_S = 0.5
NODES_S = 15.0
LOGS_S = 1.0
LEASE_S = 5.0
SWEEP_S = 3600.0
LEFTOVERS_KEPT_S = 7 * 86400.0
LOOK_AFTER_LAUNCH_S = 0.01
REPLAN_SOON_S = 0.02
FAULT_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
T = TypeVar("T")


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
        self.admission = Admission(context)
        self._replan = asyncio.Event()
        self._look = asyncio.Event()
        self._hinted: set[str] = set()
        self._work: dict[tuple[str, str, int], asyncio.Task[None]] = {}
        self._handles: dict[tuple[str, int], Handle] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._replan_soon: asyncio.TimerHandle | None = None
        self._unsubscribe: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Find the nodes, take up what was under way, and begin to loop."""
        await self._refresh_nodes()
        self.admission.take_all()
        self._unsubscribe = self._context.store.subscribe(self._take_news)
        if isinstance(self._context.engine, GivesHints):
            self._context.engine.on_change(self._take_hint)
        await self._recover()
        for name, step in (
            ("admit", self._admit),
            ("watch", self._watch),
            ("poll", _every(POLL_S, self._observe_all)),
            ("limits", _every(LIMITS_S, self._enforce_limits)),
            ("nodes", _every(NODES_S, self._refresh_nodes)),
            ("logs", _every(LOGS_S, self._log_keeper.look)),
            ("lease", _every(LEASE_S, self._hold_lease)),
            ("sweep", _every(SWEEP_S, self._sweep)),
            ("explain", _every(EXPLAIN_EVERY_S, self._explain_rest)),
        ):
            self._loops.append(asyncio.create_task(self._repeat(name, step), name=f"footplate-{name}"))

    async def close(self) -> None:
        self._unsubscribe()
        for task in (*self._loops, *self._work.values()):
            task.cancel()
        await asyncio.gather(*self._loops, *self._work.values(), return_exceptions=True)
        await self._context.engine.close()

    def replan(self) -> None:
        """Ask for a scheduling pass soon."""
        self._replan.set()

    # Effects

    def _take_news(self, news: News) -> None:
        self.admission.take(news.jobs)
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
            case StopTasks(grace_s=grace_s):
                self._spawn("stop", job, self._stop(job, grace_s))
            case RemoveJob():
                self._spawn("remove", job, self._remove(job))

    def _replan_for(self, job: Job) -> None:
        """Plan at once when room was given back; a new job behind others waits for company."""
        if self.admission.is_foretold(job):
            return
        if job.state is not JobState.QUEUED or not self.admission.has_waiting:
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
            return
        task = asyncio.create_task(work, name=f"footplate-{kind}-{job.id}")
        self._work[key] = task
        task.add_done_callback(lambda done: self._end_work(key, done))

    def _end_work(self, key: tuple[str, str, int], task: asyncio.Task[None]) -> None:
        self._work.pop(key, None)
        if key[0] == "launch":
            # A moment later: a task that is over by then costs one look and one commit, not two.
            asyncio.get_running_loop().call_later(LOOK_AFTER_LAUNCH_S, self._take_hint, f"{key[1]}.{key[2]}")
        if not task.cancelled() and (error := task.exception()) is not None:
            self._report(f"{key[0]} of job {key[1]}", error)

    async def _launch(self, job: Job) -> None:
        handle = await self._insist(f"launching job {job.id}", lambda: launch(self._context, job))
        if handle is not None:
            self._handles[job.id, job.attempt] = handle

    async def _stop(self, job: Job, grace_s: float) -> None:
        launching = self._work.get(("launch", job.id, job.attempt))
        if launching is not None:
            await asyncio.wait([launching])
        seen = await self._insist(f"stopping job {job.id}", lambda: self._end(job, grace_s))
        now = self._context.clock.now()
        current = self._context.store.board.get(job.id, job)
        moves: list[Event] = [*events_from(current, seen, now), TasksGone(now, job.attempt)]
        await self._context.store.apply_all((job.id, event) for event in moves)
        self._handles.pop((job.id, job.attempt), None)

    async def _end(self, job: Job, grace_s: float) -> Sequence[Observation]:
        handle = self._handle(job)
        await self._context.engine.stop(handle, grace_s)
        return await self._context.engine.observe([handle])

    async def _insist(self, what: str, step: Callable[[], Awaitable[T]]) -> T:
        """Do what must be done in the end, however often it fails; every failure is told."""
        pause_s = FAULT_PAUSE_S
        while True:
            try:
                return await step()
            except StaleLease:
                raise
            except Exception:
                log.exception("%s failed; trying again in %g s", what, pause_s)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def _remove(self, job: Job) -> None:
        for kind in ("launch", "stop"):
            under_way = self._work.get((kind, job.id, job.attempt))
            if under_way is not None:
                await asyncio.wait([under_way])
        await self._insist(f"removing job {job.id}", lambda: remove(self._context, job))

    def _handle(self, job: Job) -> Handle:
        key = (job.id, job.attempt)
        if key not in self._handles:
            engine = self._context.engine
            self._handles[key] = engine.handle_of(engine.compile(launch_plan(self._context, job)))
        return self._handles[key]

    # Loops

    async def _admit(self) -> None:
        await self._replan.wait()
        self._replan.clear()
        await self._pass()

    async def _explain_rest(self) -> None:
        if self.admission.has_waiting:
            self._replan.set()

    def _take_hint(self, attempt_id: str) -> None:
        self._hinted.add(attempt_id)
        self._look.set()

    async def _watch(self) -> None:
        await self._look.wait()
        self._look.clear()
        hinted, self._hinted = self._hinted, set()
        jobs = (self._context.store.board.get(attempt_id.rpartition(".")[0]) for attempt_id in hinted)
        await self._observe([job for job in jobs if job is not None])

    async def _observe_all(self) -> None:
        await self._observe(list(self._context.store.board.values()))

    async def _observe(self, jobs: list[Job]) -> None:
        # An attempt that is still being launched is looked at when that is done.
        watched = {
            f"{job.id}.{job.attempt}": job
            for job in jobs
            if job.state in (JobState.STARTING, JobState.RUNNING)
            and ("launch", job.id, job.attempt) not in self._work
        }
        if not watched:
            return
        seen: dict[str, list[Observation]] = {}
        for one in await self._sights(list(watched.values())):
            seen.setdefault(one.attempt_id, []).append(one)
        now = self._context.clock.now()
        news: list[Move] = []
        for attempt_id, job in watched.items():
            news += [(job.id, event) for event in events_from(job, seen.get(attempt_id, ()), now)]
        if any(isinstance(event, TaskExited | TaskLost) for _, event in news):
            await self._pass(news)
        else:
            await self._context.store.apply_all(news)

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

    async def _enforce_limits(self) -> None:
        now = self._context.clock.now()
        board = list(self._context.store.board.values())
        await self._context.store.apply_all((job.id, event) for job in board if (event := overdue(job, now)))

    async def _hold_lease(self) -> None:
        """Learn that another server has taken over, even when there is nothing to write."""
        await self._context.store.write(lambda _: None)

    async def _sweep(self) -> None:
        """Forget what nobody will ask for again: idempotency keys, expired tokens, broken-off uploads."""
        before = self._context.clock.now() - LEFTOVERS_KEPT_S
        await self._context.store.write(lambda tx: job_queries.forget_keys_before(tx.connection, before))
        await self._context.store.write(lambda tx: remove_expired_tokens(tx.connection, before))
        await asyncio.to_thread(self._context.blobs.sweep, LEFTOVERS_KEPT_S)

    async def _refresh_nodes(self) -> None:
        engine = self._context.engine
        if isinstance(engine, OffersNodes) and self._context.cluster.take_nodes(await engine.nodes()):
            self._replan.set()

    async def _recover(self) -> None:
        for job in list(self._context.store.board.values()):
            if job.state is JobState.STARTING:
                self._carry_out(job, LaunchTasks(job.attempt))
            elif job.state is JobState.STOPPING:
                self._carry_out(job, StopTasks(job.attempt, job.spec.grace_s))
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


def _every(seconds: float, step: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    async def paced() -> None:
        await asyncio.sleep(seconds)
        await step()

    return paced
