"""Frameworks' variables beyond the tables: TF_CONFIG's rules, cards of other makers, bounds, cost."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.resources import Resources
from footplate.domain.spec import JobSpec, RoleSpec
from footplate.engines.base import LaunchPlan
from footplate.engines.strategies import prepare
from footplate.testing.task_environments import paths_of, task_environment


def plan(*roles: RoleSpec, gpus: tuple[int, ...] = (), labels: int = 0, **spec: Any) -> LaunchPlan:
    names = [(role.name, index) for role in roles for index in range(role.count)]
    more = tuple((f"extra{n}", tuple(range(40_000, 40_100))) for n in range(labels))
    tasks = tuple(
        TaskPlacement(role, index, "n1", Resources(1000), gpus, (("main", (5000 + i,)), *more))
        for i, (role, index) in enumerate(names)
    )
    return LaunchPlan("j1", "ann", 0, JobSpec("fit", roles, **spec), Placement(tasks))


def tf_config(launch: LaunchPlan, role: str, index: int = 0) -> Any:
    text = task_environment(launch, role, index).get("TF_CONFIG")
    return None if text is None else json.loads(text)


def test_tensorflow_knows_chief_servers_and_workers() -> None:
    launch = plan(RoleSpec("t", "chief"), RoleSpec("t", "ps", 2), RoleSpec("t", "worker"))
    assert tf_config(launch, "ps", 1) == {
        "cluster": {
            "chief": ["127.0.0.1:5000"],
            "ps": ["127.0.0.1:5001", "127.0.0.1:5002"],
            "worker": ["127.0.0.1:5003"],
        },
        "task": {"type": "ps", "index": 1},
        "environment": "cloud",
    }


def test_an_evaluator_knows_the_cluster_and_is_not_in_it() -> None:
    config = tf_config(plan(RoleSpec("t", "worker", 2), RoleSpec("t", "evaluator")), "evaluator")
    assert config["task"] == {"type": "evaluator", "index": 0}
    assert set(config["cluster"]) == {"worker"}


def test_a_single_role_of_another_name_beside_servers_is_the_worker() -> None:
    config = tf_config(plan(RoleSpec("t", "ps"), RoleSpec("t", "trainer", 2)), "trainer", 1)
    assert config["task"] == {"type": "worker", "index": 1}


def test_a_role_that_tensorflow_has_no_name_for_is_left_out() -> None:
    launch = plan(RoleSpec("t", "worker", 2), RoleSpec("t", "dashboard"))
    assert tf_config(launch, "dashboard") is None
    assert set(tf_config(launch, "worker")["cluster"]) == {"worker"}


def test_a_job_that_uses_none_of_tensorflows_names_gets_no_tf_config() -> None:
    assert tf_config(plan(RoleSpec("t", count=2)), "main") is None


def test_a_single_task_gets_no_tf_config_unless_it_asks_for_tensorflow() -> None:
    assert tf_config(plan(RoleSpec("t", "worker")), "worker") is None
    launch = plan(RoleSpec("t", "worker"), strategy="tensorflow")
    prepared = prepare(launch, paths_of)
    assert "TF_CONFIG" in prepared.own_env(prepared.tasks[0], 0)


@pytest.mark.parametrize(
    ("gpu_type", "expected"),
    [
        ("", {"CUDA_VISIBLE_DEVICES": "2,5", "NVIDIA_VISIBLE_DEVICES": "2,5"}),
        (
            "MI300X",
            {"ROCR_VISIBLE_DEVICES": "2,5", "HIP_VISIBLE_DEVICES": "0,1", "CUDA_VISIBLE_DEVICES": "0,1"},
        ),
        (
            "Ascend910B",
            {
                "ASCEND_RT_VISIBLE_DEVICES": "2,5",
                "ASCEND_VISIBLE_DEVICES": "2,5",
                "CUDA_VISIBLE_DEVICES": "",
            },
        ),
    ],
)
def test_cards_are_named_in_the_words_of_their_maker(gpu_type: str, expected: dict[str, str]) -> None:
    env = task_environment(plan(RoleSpec("t", gpus=2, gpu_type=gpu_type), gpus=(2, 5)), "main", 0)
    assert {name: value for name, value in env.items() if name.endswith("_VISIBLE_DEVICES")} == expected


def test_a_task_without_cards_is_told_so_in_nvidias_words() -> None:
    assert task_environment(plan(RoleSpec("t")), "main", 0)["NVIDIA_VISIBLE_DEVICES"] == "none"


def test_a_gang_on_one_machine_meets_on_the_loopback_interface() -> None:
    env = task_environment(plan(RoleSpec("t", count=2)), "main", 0)
    assert env["GLOO_SOCKET_IFNAME"] == env["NCCL_SOCKET_IFNAME"] == "lo"
    assert "GLOO_SOCKET_IFNAME" not in task_environment(plan(RoleSpec("t")), "main", 0)


def test_users_replace_conventions_and_nothing_that_is_reserved() -> None:
    chosen = {"TF_CONFIG": "mine", "SLURM_NTASKS": "7", "PAI_JOB_NAME": "other", "FOOTPLATE_JOB_ID": "x"}
    env = task_environment(plan(RoleSpec("t", "worker", 2), env=chosen), "worker", 1)
    assert (env["TF_CONFIG"], env["SLURM_NTASKS"]) == ("mine", "7")
    assert (env["PAI_JOB_NAME"], env["FOOTPLATE_JOB_ID"]) == ("ann~fit", "j1")


def test_what_names_every_task_is_left_out_of_very_large_gangs() -> None:
    env = task_environment(plan(RoleSpec("t", "worker", 513)), "worker", 5)
    assert not {"TF_CONFIG", "SLURM_NODELIST", "UAI_HOSTS", "PAI_HOST_IP_worker_0"} & set(env)
    assert (env["WORLD_SIZE"], env["PAI_TASK_INDEX"], env["SLURM_PROCID"]) == ("513", "5", "5")


@pytest.mark.parametrize(("n_tasks", "labels"), [(512, 0), (512, 32), (10_000, 0)])
def test_the_environment_stays_small_enough_to_start_a_program(n_tasks: int, labels: int) -> None:
    env = task_environment(plan(RoleSpec("t", "worker", n_tasks), labels=labels), "worker", 0)
    sizes = [len(name) + len(value) + 2 for name, value in env.items()]
    assert max(sizes) < 128 * 1024
    assert sum(sizes) < 1024 * 1024


@pytest.mark.alone
def test_a_gang_of_five_hundred_is_prepared_in_far_less_than_a_second() -> None:
    launch = plan(RoleSpec("t", "worker", 500))
    began = time.perf_counter()
    prepared = prepare(launch, paths_of)
    for rank, task in enumerate(prepared.tasks):
        prepared.own_env(task, rank)
        prepared.command(task.role, task.index)
    assert time.perf_counter() - began < 0.5
