"""What tasks find in their environment."""

from __future__ import annotations

import json
from typing import Any

import pytest

from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.resources import Resources
from footplate.domain.spec import JobSpec, RoleSpec, Service
from footplate.engines.base import LaunchPlan
from footplate.engines.strategies import prepare
from footplate.testing.task_environments import paths_of, task_environment


def placed(role: str, index: int, **more: Any) -> TaskPlacement:
    port = 5000 + index + (100 if role == "ps" else 0)
    return TaskPlacement(
        role, index, **{"node": "n1", "resources": Resources(1000), "ports": (("main", (port,)),), **more}
    )


def launch(
    *tasks: TaskPlacement, roles: tuple[RoleSpec, ...] = (RoleSpec("true"),), more: Any = None, **spec: Any
) -> LaunchPlan:
    placement = Placement(tasks or (placed("main", 0),))
    return LaunchPlan("j1", "ann", 2, JobSpec("fit", roles, **spec), placement, **(more or {}))


TWO_ROLES = (RoleSpec("ps", "ps", 1), RoleSpec("work", "worker", 2))
GANG = (placed("worker", 1), placed("ps", 0, address="10.0.0.9"), placed("worker", 0))


def test_a_task_knows_its_job_attempt_and_place() -> None:
    env = task_environment(launch(queue="vision"), "main", 0)
    expected = {
        "FOOTPLATE_JOB_ID": "j1",
        "FOOTPLATE_JOB_NAME": "fit",
        "FOOTPLATE_USER": "ann",
        "FOOTPLATE_QUEUE": "vision",
        "FOOTPLATE_ATTEMPT": "2",
        "FOOTPLATE_ATTEMPT_ID": "j1.2",
        "FOOTPLATE_ROLE": "main",
        "FOOTPLATE_TASK_INDEX": "0",
        "FOOTPLATE_TASK": "main-0",
        "FOOTPLATE_NODE": "n1",
        "FOOTPLATE_ROLES": "main",
        "FOOTPLATE_TASK_COUNT": "1",
        "FOOTPLATE_ROLE_COUNT": "1",
    }
    assert {name: env[name] for name in expected} == expected


def test_windows_of_a_task_with_a_desktop_of_its_own_are_led_to_it() -> None:
    asked = (Service("desktop", "worker"),)
    plan = launch(*GANG, roles=TWO_ROLES, services=asked)
    shown = {
        f"{task.role}-{task.index}": task_environment(plan, task.role, task.index).get("DISPLAY")
        for task in plan.placement.tasks
    }
    assert shown == {"worker-1": None, "ps-0": None, "worker-0": ":1"}
    assert task_environment(launch(services=(Service("desktop"),)), "main", 0)["DISPLAY"] == ":1"
    assert "DISPLAY" not in task_environment(launch(services=(Service("jupyter"),)), "main", 0)
    own = (RoleSpec("true", env={"DISPLAY": ":7"}),)
    assert task_environment(launch(roles=own, services=(Service("desktop"),)), "main", 0)["DISPLAY"] == ":7"


def test_ranks_follow_the_order_of_roles_not_of_placement() -> None:
    plan = launch(*GANG, roles=TWO_ROLES)
    ranks = {
        (role, i): task_environment(plan, role, i)["RANK"]
        for role, i in [("ps", 0), ("worker", 0), ("worker", 1)]
    }
    assert ranks == {("ps", 0): "0", ("worker", 0): "1", ("worker", 1): "2"}


def test_the_master_is_the_task_of_rank_zero() -> None:
    env = task_environment(launch(*GANG, roles=TWO_ROLES), "worker", 1)
    assert (env["MASTER_ADDR"], env["MASTER_PORT"], env["WORLD_SIZE"]) == ("10.0.0.9", "5100", "3")
    assert (env["LOCAL_RANK"], env["LOCAL_WORLD_SIZE"], env["NODE_RANK"]) == ("0", "1", "2")


def test_every_task_knows_the_whole_gang() -> None:
    env = task_environment(launch(*GANG, roles=TWO_ROLES), "worker", 0)
    assert json.loads(env["FOOTPLATE_TASKS"]) == [
        {"role": "ps", "index": 0, "address": "10.0.0.9", "ports": {"main": [5100]}},
        {"role": "worker", "index": 0, "address": "127.0.0.1", "ports": {"main": [5000]}},
        {"role": "worker", "index": 1, "address": "127.0.0.1", "ports": {"main": [5001]}},
    ]


def test_the_machines_of_a_gang_are_listed_once_each_by_rank() -> None:
    gang = (placed("worker", 1, node="n3"), placed("ps", 0, node="n2"), placed("worker", 0, node="n2"))
    assert task_environment(launch(*gang, roles=TWO_ROLES), "worker", 0)["FOOTPLATE_NODES"] == "n2,n3"


def test_a_gang_too_large_for_one_variable_is_left_out() -> None:
    tasks = tuple(placed("main", i) for i in range(3000))
    env = task_environment(launch(*tasks, roles=(RoleSpec("true", count=3000),)), "main", 7)
    assert "FOOTPLATE_TASKS" not in env
    assert env["WORLD_SIZE"] == "3000"


def test_ports_are_found_by_label() -> None:
    task = placed("main", 0, ports=(("main", (5000,)), ("tensor-board", (6006, 6007))))
    env = task_environment(launch(task), "main", 0)
    assert env["FOOTPLATE_PORT_TENSOR_BOARD"] == "6006"
    assert env["FOOTPLATE_PORTS_TENSOR_BOARD"] == "6006,6007"
    assert env["FOOTPLATE_PORTS_MAIN"] == "5000"


@pytest.mark.parametrize(("gpus", "visible"), [((), ""), ((0,), "0"), ((2, 5), "2,5")])
def test_a_task_sees_the_cards_it_was_given_and_no_others(gpus: tuple[int, ...], visible: str) -> None:
    env = task_environment(launch(placed("main", 0, gpus=gpus)), "main", 0)
    assert env["CUDA_VISIBLE_DEVICES"] == visible
    assert env["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"


def test_the_roles_environment_wins_over_the_jobs() -> None:
    role = RoleSpec("true", env={"B": "role", "C": "${{ parameters.rate }}"})
    env = task_environment(
        launch(roles=(role,), env={"A": "job", "B": "job"}, parameters={"rate": 0.5}), "main", 0
    )
    assert (env["A"], env["B"], env["C"]) == ("job", "role", "0.5")
    assert json.loads(env["FOOTPLATE_PARAMETERS"]) == {"rate": 0.5}


def test_users_may_replace_conventions_but_not_the_platform() -> None:
    chosen = {"MASTER_PORT": "29500", "CUDA_VISIBLE_DEVICES": "7", "FOOTPLATE_TASK": "other-1"}
    env = task_environment(launch(env=chosen), "main", 0)
    assert env["MASTER_PORT"] == "29500"
    assert env["CUDA_VISIBLE_DEVICES"] == ""
    assert env["FOOTPLATE_TASK"] == "main-0"


def test_what_the_platform_does_not_offer_is_absent() -> None:
    env = task_environment(launch(), "main", 0)
    assert not {"FOOTPLATE_TOKEN", "FOOTPLATE_URL"} & set(env)


def test_folders_and_access_are_passed_on() -> None:
    more = {"url": "http://h", "token": "t"}
    env = task_environment(launch(more=more), "main", 0)
    assert env["FOOTPLATE_CHECKPOINT_DIR"] == "/jobs/j1/checkpoints"
    assert env["FOOTPLATE_OUTPUT_DIR"] == "/jobs/j1/output"
    assert (env["FOOTPLATE_URL"], env["FOOTPLATE_TOKEN"]) == ("http://h", "t")


def test_parameters_are_filled_into_the_command() -> None:
    role = RoleSpec("train --epochs ${{ parameters.epochs }}")
    assert (
        prepare(launch(roles=(role,), parameters={"epochs": 5}), paths_of).command("main", 0)
        == "train --epochs 5"
    )
