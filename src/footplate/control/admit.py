"""Admission: take a snapshot, plan, and start what the plan starts; explain to the rest why they wait."""

from __future__ import annotations

import asyncio
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

from footplate.control.context import Context
from footplate.control.durations import Durations
from footplate.control.estimates import Estimates
from footplate.control.launch import chosen_images, launch_plan
from footplate.control.reasons import Reasons, Why
from footplate.control.volumes import storages_of
from footplate.domain.cluster import Placement
from footplate.domain.estimate import Estimate, WouldBe
from footplate.domain.events import HandedOver, Placed, Refused, WaitExplained
from footplate.domain.job import Job
from footplate.domain.messages import say
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.scheduler.decisions import Plan, Start
from footplate.scheduler.fit import can_ever_fit
from footplate.scheduler.line import Waiting
from footplate.scheduler.plan import plan
from footplate.scheduler.ports import NO_PORTS, port_needs
from footplate.scheduler.snapshot import (
    Hold,
    PendingJob,
    RunningJob,
    Snapshot,
    pending_of,
    running_of,
    shape_of,
)
from footplate.store.store import Move
from footplate.store.transitions import Ahead, work_ahead
from footplate.store.writer import Transaction, Unit, Work

T = TypeVar("T")

EXPLAIN_EVERY_S = 0.5
# With more jobs than this before it, a new one hardly starts at once: not worth a pass of its own.
MOST_AT_ONCE = 64
MOST_EXPLAINED = 200


@dataclass(frozen=True, slots=True)
class Arrival:
    """A new job, and the work that stores it."""

    job: Job
    work: Work[Any]


class Admission:
    """Runs scheduling passes, and remembers the last plan to answer questions from.

    It keeps every living job as the scheduler's value, changed with every commit, so that a pass does
    not have to look at all jobs to know that nearly all stand as before.
    """

    def __init__(self, context: Context, wake: Callable[[], None] = lambda: None) -> None:
        self._context = context
        self._wake = wake
        # New jobs that wait to be stored, and those that the pass under way stores.
        self._arrivals: list[Arrival] = []
        self._arriving: dict[str, Job] = {}
        self._pending = Waiting()
        self._running: dict[str, RunningJob] = {}
        self._counted_on: set[str] = set()
        # The last event that made somebody ask for a pass; 0 when only time has passed.
        self._asked_by = 0
        self._one_at_a_time = asyncio.Lock()
        self._explained_at = 0.0
        self._reasons = Reasons(context)
        self.last: Plan | None = None
        self.durations = Durations()
        self._estimates = Estimates()

    async def enter(self, job: Job, unit: Unit[T]) -> T:
        """Run the unit that stores a new job, and start the job in the same commit if there is room for it.

        One that cannot start at once is only stored; so is one behind many.
        """
        if len(self._pending) > MOST_AT_ONCE or not self.has_room(job):
            return await self._context.store.write(unit)
        arrival = Arrival(job, Work(unit))
        self._arrivals.append(arrival)
        self._wake()
        return await self._context.store.outcome(arrival.work)

    def ask_for(self, event: int) -> None:
        """Note the number of the event on which the next pass will act."""
        self._asked_by = max(self._asked_by, event)

    def has_room(self, job: Job) -> bool:
        """Tell whether the last pass left room for a job that came after it."""
        return self.last is None or self.last.has_room(pending_of(job))

    async def run_pass(self, news: Sequence[Move] = ()) -> bool:
        """Plan once and commit what was decided, together with new jobs and with news that give room back.

        A job is then started in the commit that stores it, and room is taken again in the commit that
        gives it back. False when not all came about as planned, so that somebody must plan again:
        should the room not come back after all, nothing takes it; a new job may be refused.
        """
        async with self._one_at_a_time:
            arrivals, self._arrivals = self._arrivals, []
            self._arriving = {one.job.id: one.job for one in arrivals}
            try:
                refused = await self._commit(news, [one.work for one in arrivals])
            except BaseException:
                self.take_all()
                raise
            finally:
                self._arriving = {}
            if refused is None:
                self.take_all()
                return False
            self.take(dict.fromkeys(refused))
            self._counted_on.difference_update(refused)
        return not refused

    async def _commit(self, news: Sequence[Move], works: Sequence[Work[Any]]) -> list[str] | None:
        """Decide and commit; the result is which new jobs are not there, None if room did not come back."""
        store, arriving = self._context.store, list(self._arriving)
        asked_by, self._asked_by = self._asked_by, 0
        try:
            ahead = self._work_ahead(news)
            freed = self._apply_ahead(ahead)
            moves = self._decide()
        except BaseException:
            # A fault of the planning is none of whoever submits: their jobs are stored all the same.
            store.put(works)
            raise

        def unit(tx: Transaction) -> list[str] | None:
            store.apply_living(tx, news, ahead)
            if any((job := store.living(tx, job_id)) and job.placement for job_id in freed):
                return None
            store.apply_living(tx, moves, cause=max([asked_by, *(_last_move(tx, one) for one in freed)]))
            return [job_id for job_id in arriving if store.living(tx, job_id) is None]

        if not (works or news or moves):
            return []
        committing = Work(unit)
        store.put([*works, committing])
        return await store.outcome(committing)

    def _work_ahead(self, news: Sequence[Move]) -> list[Ahead | None]:
        """What each of these news will make of its job; None for jobs that are over."""
        board = self._context.store.board
        jobs: dict[str, Job] = {}
        ahead: list[Ahead | None] = []
        for job_id, event in news:
            job = jobs.get(job_id) or board.get(job_id)
            one = None if job is None else work_ahead(job, event)
            ahead.append(one)
            if one is not None:
                jobs[job_id] = one.outcome.job
        return ahead

    def _apply_ahead(self, ahead: Iterable[Ahead | None]) -> set[str]:
        """Apply events to the view ahead of the commit; return the jobs that free their resources."""
        board = self._context.store.board
        jobs = {one.before.id: one.outcome.job for one in ahead if one is not None}
        freed = {
            job_id
            for job_id, job in jobs.items()
            if job.placement is None and (held := board.get(job_id)) and held.placement is not None
        }
        self.take({**jobs, **self._arriving})
        self._counted_on |= freed | self._arriving.keys()
        return freed

    def is_counted_on(self, job: Job) -> bool:
        """Whether a pass has counted on the end of a job already; asked once for each."""
        known = job.id in self._counted_on
        self._counted_on.discard(job.id)
        return known

    def _decide(self) -> list[Move]:
        now = self._context.clock.now()
        snapshot = self.snapshot()
        self.last = plan(snapshot, self._context.policy, now)
        self._context.ports.begin_at = self.last.next_port
        moves: list[Move] = []
        for start in self.last.starts:
            placed = self._complete(start, snapshot)
            if placed is not None and placed.is_open:
                reason = Reason(ReasonCode.HANDED_OVER, say("handed_over", engine=start.placement.engine))
                moves.append((start.job_id, HandedOver(now, start.attempt, placed, reason)))
            elif placed is not None:
                moves.append((start.job_id, Placed(now, start.attempt, placed)))
            else:
                moves += self._new_reasons(now, [(start.job_id, NO_PORTS)])
        moves += [(one.job_id, Refused(now, one.attempt, one.reason)) for one in self.last.refusals]
        left_out = ((job_id, self.last.explain(job_id)) for job_id in self.last.left_out)
        return moves + self._new_reasons(now, left_out) + self._explanations(now)

    def _new_reasons(self, now: float, reasons: Iterable[tuple[str, Reason]]) -> list[Move]:
        """Store reasons of another kind than those that are stored."""
        return [
            (job_id, WaitExplained(now, job.attempt, reason))
            for job_id, reason in reasons
            if (job := self._find(job_id)) and job.reason.code is not reason.code
        ]

    def _complete(self, start: Start, snapshot: Snapshot) -> Placement | None:
        """Add what the plan cannot know: whether strangers use the ports, and what images stand for."""
        job = self._find(start.job_id)
        if job is None:
            return None
        if start.placement.is_open:
            return self._named(start.placement, job)
        others = chain(
            (one.placement for one in snapshot.running),
            (one.placement for one in self._starts() if one is not start),
        )
        placed = self._context.ports.confirm(port_needs(job.spec), start.placement, others)
        if placed is None:
            # What it would have taken is for others: the next pass knows which ports are in use.
            self._wake()
            return None
        return self._named(placed, job)

    def _named(self, placed: Placement, job: Job) -> Placement:
        """Note what images stand for, and the engine, unless it is the default one: so rows stay short."""
        engine = "" if placed.engine == self._context.engines.default else placed.engine
        return replace(placed, images=chosen_images(self._context, job), engine=engine)

    def _starts(self) -> Sequence[Start]:
        return self.last.starts if self.last else ()

    def _holds(self) -> tuple[Hold, ...]:
        """Say which jobs must wait: all on a nearly full disk, or those whose storage does not answer."""
        low = self._context.disk.tell()
        if low is not None:
            # What starts writes: logs, results, code. What runs goes on.
            return tuple(Hold(job_id, Reason(ReasonCode.DISK_LOW, low)) for job_id in self._pending)
        silences = self._context.storage_watch.silences()
        if not silences:
            return ()
        holds = []
        for job_id in self._pending:
            job = self._find(job_id)
            name = next((name for name, _ in storages_of(job) if name in silences), "") if job else ""
            if name:
                reason = Reason(ReasonCode.STORAGE_SILENT, silences[name])
                holds.append(Hold(job_id, reason))
        return tuple(holds)

    def _find(self, job_id: str) -> Job | None:
        return self._arriving.get(job_id) or self._context.store.board.get(job_id)

    def take_all(self) -> None:
        """Rebuild the view from the board."""
        self._pending.clear()
        self._running.clear()
        self._counted_on.clear()
        self.take(dict(self._context.store.board))

    def take(self, jobs: Mapping[str, Job | None]) -> None:
        """Update the view with the jobs of a commit."""
        for job_id, job in jobs.items():
            self._pending.discard(job_id)
            self._running.pop(job_id, None)
            if job is not None and job.placement is not None:
                self._running[job_id] = running_of(job)
            elif job is not None and job.state is JobState.QUEUED:
                self._pending.put(self._as_pending(job))

    def _as_pending(self, job: Job) -> PendingJob:
        """See a job as the scheduler does; nodes to avoid count only while others could take it."""
        pending = pending_of(job)
        if job.avoids:
            shape, cluster = shape_of(job.spec, job.avoids), self._context.cluster
            queue = cluster.queues.get(job.spec.queue)
            engines = self._context.engines
            if queue is None:
                return pending
            if can_ever_fit(shape, cluster.nodes, engines.bind(queue), engines.states()) is None:
                return replace(pending, shape=shape)
        return pending

    def snapshot(self) -> Snapshot:
        """The jobs and machines as the scheduler sees them."""
        cluster, engines = self._context.cluster, self._context.engines
        return Snapshot(
            cluster.nodes,
            tuple(map(engines.bind, cluster.queues.values())),
            tuple(self._running.values()),
            self._pending.line(),
            self._holds(),
            self._context.ports.room(),
            engines.states(),
        )

    @property
    def order(self) -> tuple[str, ...]:
        """The ids of the jobs that wait, first to start first; then those that wait in other engines."""
        ours = self.last.order if self.last else ()
        return (*ours, *self._context.waits.order(self._context.store.board))

    async def explain(self, job_ids: Iterable[str]) -> Mapping[str, Why]:
        """Why jobs wait, as their rows say by now, and how many are before each."""
        return await self._reasons.tell(self.last, job_ids)

    async def estimate(self, job_id: str) -> Estimate | None:
        """When a waiting job is expected to start; None for one that does not wait."""
        if job := self._waiting_elsewhere(job_id):
            return self._context.waits.estimate(job, self._context.engines.name_of(job))
        if self.last is None or job_id not in self.last.position or job_id not in self._pending:
            return None
        context = self._context
        now, jobs = context.clock.now(), context.store.board
        return await self._estimates.tell(
            job_id, self.last, self.snapshot(), context.policy, now, jobs, self.durations
        )

    def _waiting_elsewhere(self, job_id: str) -> Job | None:
        job = self._context.store.board.get(job_id)
        return job if job is not None and job.is_handed_over else None

    async def dry_run(self, job: Job) -> WouldBe:
        """What a pass would make of a job that is not there yet: the engine's request, or why it waits."""
        seen, policy = self.snapshot(), self._context.policy
        seen = replace(seen, pending=(*seen.pending, pending_of(job)))
        planned = plan(seen, policy, job.queued_at)
        start = next((start for start in planned.starts if start.job_id == job.id), None)
        if start is None:
            jobs = ChainMap({job.id: job}, self._context.store.board)
            estimate = await self._estimates.tell_new(job, planned, seen, policy, jobs, self.durations)
            return WouldBe(planned.explain(job.id), None, estimate)
        placed = start.placement
        hidden = {name: f"(the secret {secret})" for name, secret in job.spec.secrets.items()}
        would_start = replace(job, placement=placed)
        would_launch = launch_plan(self._context, would_start, hidden)
        shown = replace(would_launch, token="(made at launch)")  # noqa: S106
        request = self._context.engines.of(would_start).compile(shown)
        return WouldBe(_would_start(placed), dict(request))

    def _explanations(self, now: float) -> list[Move]:
        """Store why jobs wait where that is of a new kind.

        Numbers change with every pass; they are stored when somebody looks at them.
        """
        if self.last is None or 0 <= now - self._explained_at < EXPLAIN_EVERY_S:
            return []
        self._explained_at = now
        waiting = ((job_id, self.last.explain(job_id)) for job_id in self.last.order[:MOST_EXPLAINED])
        return self._new_reasons(now, waiting)

    @property
    def wakes_at(self) -> float | None:
        """When the first pause of a waiting job ends, by the last plan."""
        return self.last.wakes_at if self.last else None

    @property
    def n_waiting(self) -> int:
        """How many jobs wait, those included that came just now."""
        return len(self._pending)


def _would_start(placed: Placement) -> Reason:
    facts = {"n_tasks": len(placed.tasks)}
    if placed.is_open:
        return Reason(ReasonCode.HANDED_OVER, say("would_be_handed_over", engine=placed.engine), facts)
    nodes = sorted({task.node for task in placed.tasks})
    return Reason(ReasonCode.PREPARING, say("would_start_on", nodes=nodes), facts)


def _last_move(tx: Transaction, job_id: str) -> int:
    job = tx.after.get(job_id)
    return 0 if job is None else job.moved_by
