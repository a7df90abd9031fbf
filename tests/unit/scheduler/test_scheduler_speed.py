"""A pass stays cheap however many jobs wait; bounds are about ten times what is measured."""

from __future__ import annotations

import time
from dataclasses import replace
from random import Random

import pytest

from footplate.scheduler.plan import plan
from footplate.scheduler.policy import Policy
from footplate.scheduler.snapshot import PendingJob, Snapshot
from footplate.testing.scheduling import node, pending, role, running, snapshot

pytestmark = pytest.mark.alone

EQUAL = (role(cpus=1, memory_gb=1),)


def best_s(state: Snapshot, n_times: int = 5) -> float:
    took_s = []
    for _ in range(n_times):
        began_at = time.perf_counter()
        plan(state, Policy(), 100.0)
        took_s.append(time.perf_counter() - began_at)
    return min(took_s)


def equal_jobs(n: int) -> list[PendingJob]:
    return [replace(pending(f"j{at:06}", queued_at=at), shape=EQUAL) for at in range(n)]


def test_a_pass_over_a_thousand_equal_jobs_takes_less_than_a_millisecond_or_so() -> None:
    busy = [running("r1"), running("r2")]
    assert best_s(snapshot([node(cpus=2, memory_gb=8)], equal_jobs(1000), busy)) < 0.005


def test_a_pass_over_ten_thousand_equal_jobs_takes_milliseconds() -> None:
    busy = [running("r1"), running("r2")]
    assert best_s(snapshot([node(cpus=2, memory_gb=8)], equal_jobs(10_000), busy)) < 0.06


def test_a_pass_over_many_shapes_and_nodes_takes_milliseconds() -> None:
    random = Random(1)
    shapes = [
        (role(cpus=random.randint(1, 16), gpus=random.randint(1, 8), count=random.choice([1, 1, 2, 8])),)
        for _ in range(50)
    ]
    jobs = [replace(job, shape=random.choice(shapes)) for job in equal_jobs(1000)]
    nodes = [node(f"n{at:03}", gpus=8) for at in range(100)]
    busy = [
        running(f"r{at}", on=f"n{at // 2:03}", cards=range(at % 2 * 4, at % 2 * 4 + 4), ends_by=200 + at)
        for at in range(190)
    ]
    assert best_s(snapshot(nodes, jobs, busy)) < 0.2


def test_explaining_equal_jobs_costs_microseconds_each() -> None:
    outcome = plan(snapshot([node(cpus=1)], equal_jobs(1000), [running()]), Policy(), 100.0)
    began_at = time.perf_counter()
    for job_id in outcome.order:
        outcome.explain(job_id)
    assert time.perf_counter() - began_at < 0.05
