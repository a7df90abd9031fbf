"""What single frameworks need beyond the common rules: found out by running them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.spec import JobSpec, RoleSpec
from footplate.engines.base import LaunchPlan
from footplate.engines.strategies import prepare
from footplate.engines.taskenv.gang import MOST_LISTED_TASKS
from footplate.testing.task_environments import paths_of

OPTIONS = "FOOTPLATE_DEEPSPEED_OPTIONS"


def launch(
    strategy: str, cards: list[tuple[int, ...]], role: RoleSpec | None = None, **spec: Any
) -> LaunchPlan:
    role = replace(role or RoleSpec("deepspeed train.py"), count=len(cards))
    tasks = tuple(
        TaskPlacement(role.name, index, "n1", role.resources, own, (("main", (5000 + index,)),))
        for index, own in enumerate(cards)
    )
    job = JobSpec("fit", (role,), strategy=strategy, **spec)
    return LaunchPlan("j1", "ann", 0, job, Placement(tasks), token="secret")


def deepspeed(plan: LaunchPlan) -> tuple[str, str]:
    prepared = prepare(plan, paths_of)
    return prepared.gang_env[OPTIONS], prepared.files["hostfile.deepspeed"]


def test_deepspeed_is_told_host_file_and_rendezvous() -> None:
    options, hostfile = deepspeed(launch("deepspeed", [(), ()]))
    place = "--master_addr 127.0.0.1 --master_port 5000"
    assert options == f"--hostfile /jobs/j1/attempt-0/strategy/hostfile.deepspeed {place}"
    assert hostfile == "main-0 slots=1\nmain-1 slots=1\n"


def test_deepspeed_is_told_which_cards_a_task_has() -> None:
    options, hostfile = deepspeed(launch("deepspeed", [(2, 3), (0, 5)]))
    assert "--include main-0:2,3@main-1:0,5 " in options
    # It takes a named card for a mistake when its number is not below the slots.
    assert hostfile == "main-0 slots=4\nmain-1 slots=6\n"
    assert prepare(launch("deepspeed", [(2, 3), (0, 5)]), paths_of).files["hostfile"].count("slots=2") == 2


def test_deepspeed_counts_cards_from_0_where_a_task_has_the_first_ones() -> None:
    options, hostfile = deepspeed(launch("deepspeed", [(0, 1), (0, 1)]))
    assert "--include" not in options
    assert hostfile == "main-0 slots=2\nmain-1 slots=2\n"


def test_deepspeed_counts_cards_from_0_in_containers_and_not_in_what_stands_in_for_them() -> None:
    plan = launch("deepspeed", [(2, 3)], image="torch")
    assert "--include" not in deepspeed(plan)[0]
    assert "--include main-0:2,3 " in deepspeed(replace(plan, environments={"torch": "/srv/torch"}))[0]


@pytest.mark.parametrize(("gpu_type", "included"), [("mi300x", ""), ("ascend910", "--include main-0:2,3 ")])
def test_deepspeed_counts_cards_as_their_makers_do(gpu_type: str, included: str) -> None:
    options, _ = deepspeed(launch("deepspeed", [(2, 3)], RoleSpec("deepspeed t.py", gpu_type=gpu_type)))
    assert ("--include" in options) == bool(included)
    assert included in options


def test_jax_finds_its_place_in_a_gang_too_large_to_be_listed() -> None:
    prepared = prepare(launch("jax", [()] * (MOST_LISTED_TASKS + 1)), paths_of)
    assert "SLURM_JOB_NODELIST" not in prepared.gang_env
    assert prepared.gang_env["SLURM_STEP_NODELIST"] == "127.0.0.1"
    assert prepared.gang_env["JAX_COORDINATOR_ADDRESS"] == "127.0.0.1:5000"
