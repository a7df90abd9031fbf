"""Admission: take a snapshot, plan, and start what the plan starts; explain to the rest why they wait."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from footplate.control.context import Context
from footplate.control.launch import launch_plan
from footplate.domain.cluster import Placement
from footplate.domain.events import Event, Placed, Refused, WaitExplained
from footplate.domain.job import Job
from footplate.domain.resources import total
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.scheduler.decisions import Plan
from footplate.scheduler.plan import plan
from footplate.scheduler.snapshot import PendingJob, RoleShape, RunningJob, Snapshot

EXPLAIN_EVERY_S = 0.5
MOST_EXPLAINED = 200
MOST_SHAPES = 10_000


@dataclass(slots=True)
class _Known:
    """A job's scheduling value, kept while the job it was made from does not change."""

    job: Job
    value: PendingJob | RunningJob


class Admission:
    """Runs scheduling passes over the board, and remembers the last plan to answer questions from."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._known: dict[str, _Known] = {}
        self._shapes: dict[tuple[RoleShape, ...], tuple[RoleShape, ...]] = {}
        self._explained_at = 0.0
        self.last: Plan | None = None

    async def run_pass(self) -> None:
        """Plan once and commit what was decided."""
        snapshot = self.snapshot()
        now = self._context.clock.now()
        self.last = plan(snapshot, self._context.policy, now)
        moves: list[tuple[str, Event]] = []
        placements = [job.placement for job in snapshot.running]
        for start in self.last.starts:
            placed = self._with_ports(start.job_id, start.placement, placements)
            if placed is not None:
                placements.append(placed)
                moves.append((start.job_id, Placed(now, placed)))
        moves += [(refusal.job_id, Refused(now, refusal.reason)) for refusal in self.last.refusals]
        moves += self._explanations(now)
        await self._context.store.apply_all(moves)

    def snapshot(self) -> Snapshot:
        """The board as the scheduler sees it."""
        pending, running = [], []
        known: dict[str, _Known] = {}
        for job in list(self._context.store.board.values()):
            kept = self._known.get(job.id)
            if kept is None or kept.job is not job:
                kept = _Known(job, self._value_of(job))
            known[job.id] = kept
            if isinstance(kept.value, PendingJob):
                pending.append(kept.value)
            else:
                running.append(kept.value)
        self._known = known
        if len(self._shapes) > MOST_SHAPES:
            self._shapes.clear()
        cluster = self._context.cluster
        return Snapshot(cluster.nodes, tuple(cluster.queues.values()), tuple(running), tuple(pending))

    def explain(self, job_id: str) -> tuple[Reason, int] | None:
        """Why a job waits by the last plan, and how many are before it."""
        if self.last is None or job_id not in self.last.position:
            return None
        return self.last.explain(job_id), self.last.position[job_id]

    def foresee(self, job: Job) -> tuple[Reason, dict[str, Any] | None]:
        """What a pass would say of a job that is not there yet: why it waits, or the engine's request."""
        snapshot = self.snapshot()
        value = self._value_of(job)
        assert isinstance(value, PendingJob)
        foreseen = plan(
            replace(snapshot, pending=(*snapshot.pending, value)), self._context.policy, job.queued_at
        )
        start = next((start for start in foreseen.starts if start.job_id == job.id), None)
        if start is None:
            return foreseen.explain(job.id), None
        others = [running.placement for running in snapshot.running]
        placed = self._context.ports.assign(job.spec, start.placement, others) or start.placement
        request = self._context.engine.compile(launch_plan(self._context, replace(job, placement=placed)))
        reason = Reason(
            ReasonCode.PREPARING, f"would start now on {', '.join(sorted({t.node for t in placed.tasks}))}"
        )
        return reason, dict(request)

    def _value_of(self, job: Job) -> PendingJob | RunningJob:
        spec = job.spec
        if job.placement is not None:
            since = job.running_at or job.started_at or job.queued_at
            ends_by = None if spec.time_limit_s is None else since + spec.time_limit_s + spec.grace_s
            return RunningJob(job.id, spec.queue, spec.priority, job.placement, ends_by)
        # Equal shapes are one object, by which the scheduler knows them quickly.
        shape = shape_of(job)
        shape = self._shapes.setdefault(shape, shape)
        return PendingJob(
            id=job.id,
            owner=job.owner,
            queue=spec.queue,
            priority=spec.priority,
            queued_at=job.queued_at,
            shape=shape,
            time_limit_s=None if spec.time_limit_s is None else spec.time_limit_s + spec.grace_s,
            total=total(role.resources * role.count for role in shape),
        )

    def _with_ports(self, job_id: str, placement: Placement, others: list[Placement]) -> Placement | None:
        job = self._context.store.board.get(job_id)
        return None if job is None else self._context.ports.assign(job.spec, placement, others)

    def _explanations(self, now: float) -> list[tuple[str, Event]]:
        # Numbers change with every pass; only a new kind of reason is worth a commit, and not at every pass.
        if self.last is None or 0 <= now - self._explained_at < EXPLAIN_EVERY_S:
            return []
        self._explained_at = now
        moves: list[tuple[str, Event]] = []
        for job_id in self.last.order[:MOST_EXPLAINED]:
            job = self._context.store.board.get(job_id)
            reason = self.last.explain(job_id)
            if job is not None and job.state is JobState.QUEUED and job.reason.code is not reason.code:
                moves.append((job_id, WaitExplained(now, reason)))
        return moves

    @property
    def has_unexplained(self) -> bool:
        """Whether some waiting job has not been told its reason yet."""
        return self.last is not None and bool(self.last.order)


def shape_of(job: Job) -> tuple[RoleShape, ...]:
    return tuple(RoleShape(role.name, role.count, role.resources, role.gpu_type) for role in job.spec.roles)
