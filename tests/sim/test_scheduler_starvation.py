"""A big job starts in time although small ones never stop coming: pass after pass on a simulated clock."""

from __future__ import annotations

from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from footplate.domain.cluster import Node, Queue
from footplate.scheduler.plan import plan
from footplate.scheduler.policy import Policy
from footplate.scheduler.snapshot import PendingJob, RunningJob, Snapshot
from footplate.testing.scheduling import amount, node, pending, queue


class World:
    """Machines on which jobs run exactly as long as they were drawn to, never longer than their limit."""

    def __init__(self, nodes: list[Node], queues: list[Queue]) -> None:
        self.nodes, self.queues = tuple(nodes), tuple(queues)
        self.now = 0.0
        self.waiting: dict[str, PendingJob] = {}
        self.running: dict[str, RunningJob] = {}
        self.ends_at: dict[str, float] = {}
        self.started_at: dict[str, float] = {}
        self.promised_at: dict[str, float] = {}

    def submit(self, job: PendingJob) -> None:
        self.waiting[job.id] = job

    def step(self, run_share: float) -> None:
        """Plan, start, and move on to the next end of a job."""
        outcome = plan(
            Snapshot(self.nodes, self.queues, tuple(self.running.values()), tuple(self.waiting.values())),
            Policy(),
            self.now,
        )
        if "big" in outcome.order:
            at = outcome.explain("big").details.get("expected_start_at")
            if at is not None:
                assert at <= self.promised_at.setdefault("big", at)
        for start in outcome.starts:
            job = self.waiting.pop(start.job_id)
            limit_s = job.time_limit_s or 0
            running = RunningJob(job.id, job.queue, job.priority, start.placement, self.now + limit_s)
            self.running[job.id] = running
            self.started_at[job.id] = self.now
            self.ends_at[job.id] = self.now + max(limit_s * run_share, 0.5)
        self._move_on()

    def _move_on(self) -> None:
        if self.ends_at:
            self.now = max(self.now, min(self.ends_at.values()))
        for job_id in [job_id for job_id, at in self.ends_at.items() if at <= self.now]:
            del self.ends_at[job_id], self.running[job_id]


def flood(
    world: World, big: PendingJob, sizes: list[tuple[int, int]], run_share: float, n_steps: int
) -> None:
    """Fill the machines with small jobs, submit a big one, and keep small ones coming."""
    numbers = count()

    def submit_small() -> None:
        for gpus, limit_s in sizes:
            n = next(numbers)
            job = pending(
                f"s{n:04}", gpus=gpus, cpus=0, queued_at=world.now, time_limit_s=limit_s, queue=big.queue
            )
            world.submit(job)

    submit_small()
    world.step(run_share)
    world.submit(big)
    for _ in range(n_steps):
        if big.id in world.started_at:
            break
        if len(world.waiting) < MOST_WAITING:
            submit_small()
        world.step(run_share)


MOST_WAITING = 100
SIZES = st.lists(st.tuples(st.integers(1, 3), st.integers(5, 50)), min_size=4, max_size=12)


@settings(deadline=None)
@given(SIZES, st.integers(1, 2), st.integers(3, 4), st.sampled_from((0.3, 0.7, 1.0)))
def test_a_big_job_starts_by_the_time_it_was_promised(
    sizes: list[tuple[int, int]], n_tasks: int, gpus: int, run_share: float
) -> None:
    world = World([node("a", gpus=4), node("b", gpus=4)], [queue()])
    big = pending("big", gpus=gpus, count=n_tasks, cpus=0, queued_at=0.1, time_limit_s=5)
    flood(world, big, sizes, run_share, n_steps=1000)
    assert "big" in world.started_at
    if "big" in world.promised_at:
        assert world.started_at["big"] <= world.promised_at["big"]


@settings(deadline=None)
@given(SIZES, st.sampled_from((0.3, 0.7, 1.0)))
def test_a_big_job_starts_although_small_ones_of_its_queue_press_against_the_maximum(
    sizes: list[tuple[int, int]], run_share: float
) -> None:
    limited = queue("limited", maximum=amount(cpus=1, memory_gb=1, gpus=4))
    world = World([node("a", gpus=8)], [limited])
    big = pending("big", gpus=4, cpus=0, queued_at=0.1, time_limit_s=5, queue="limited")
    flood(world, big, sizes, run_share, n_steps=1000)
    # At worst those that came before it run one after the other, each until its limit.
    assert world.started_at["big"] <= sum(limit_s for _, limit_s in sizes)
