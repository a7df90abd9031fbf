"""Every environment variable that a task receives.

A variable is either the same for the whole gang or a task's own; each group is one small function, and
the tables `GANG` and `OWN` say in which order they are merged. Later ones win, so that a user's own
variables replace the conventional ones but never those of the platform.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from footplate.domain.cluster import TaskPlacement
from footplate.domain.interpolate import resolve
from footplate.engines.base import LaunchPlan

MAIN_PORT = "main"
# Linux refuses to start a program with a single variable of 128 KiB or more.
MAX_JSON_BYTES = 100 * 1024

Environment = dict[str, str]


def task_environment(plan: LaunchPlan, role: str, index: int) -> Environment:
    """Say all that one task finds in its environment."""
    ranked = ranked_tasks(plan)
    rank = next(i for i, task in enumerate(ranked) if (task.role, task.index) == (role, index))
    return {**gang_environment(plan), **own_environment(plan, ranked[rank], rank)}


def gang_environment(plan: LaunchPlan) -> Environment:
    """Say what every task of the gang has in common."""
    return _merged(part(plan) for part in GANG)


def own_environment(plan: LaunchPlan, task: TaskPlacement, rank: int) -> Environment:
    """Say what one task has for itself, to be laid over the gang's."""
    return _merged(part(plan, task, rank) for part in OWN)


def task_command(plan: LaunchPlan, role: str) -> str:
    """Write a role's command with its parameters filled in."""
    return resolve(plan.spec.role(role).command, plan.spec.parameters)


def ranked_tasks(plan: LaunchPlan) -> tuple[TaskPlacement, ...]:
    """Put the gang in the order of its ranks: roles as the job lists them, then by index."""
    order = {role.name: i for i, role in enumerate(plan.spec.roles)}
    return tuple(sorted(plan.placement.tasks, key=lambda task: (order[task.role], task.index)))


def _job(plan: LaunchPlan) -> Environment:
    spec = plan.spec
    return {
        "FOOTPLATE_JOB_ID": plan.job_id,
        "FOOTPLATE_JOB_NAME": spec.name,
        "FOOTPLATE_USER": plan.owner,
        "FOOTPLATE_QUEUE": spec.queue,
        "FOOTPLATE_ATTEMPT": str(plan.attempt),
        "FOOTPLATE_ATTEMPT_ID": plan.attempt_id,
        "FOOTPLATE_ROLES": ",".join(role.name for role in spec.roles),
        "FOOTPLATE_TASK_COUNT": str(spec.n_tasks),
        **_json("FOOTPLATE_PARAMETERS", dict(spec.parameters)),
    }


def _platform(plan: LaunchPlan) -> Environment:
    offered = {
        "FOOTPLATE_CHECKPOINT_DIR": plan.checkpoint_folder,
        "FOOTPLATE_OUTPUT_DIR": plan.output_folder,
        "FOOTPLATE_URL": plan.url,
        "FOOTPLATE_TOKEN": plan.token,
    }
    return {name: str(value) for name, value in offered.items() if value}


def _gang_members(plan: LaunchPlan) -> Environment:
    members = [
        {"role": task.role, "index": task.index, "address": task.address, "ports": dict(task.ports)}
        for task in ranked_tasks(plan)
    ]
    return _json("FOOTPLATE_TASKS", members)


def _rendezvous(plan: LaunchPlan) -> Environment:
    master = ranked_tasks(plan)[0]
    ports = dict(master.ports).get(MAIN_PORT, ())
    return {
        "WORLD_SIZE": str(plan.spec.n_tasks),
        "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": master.address,
        **({"MASTER_PORT": str(ports[0])} if ports else {}),
    }


def _live_output(_plan: LaunchPlan) -> Environment:
    # Python holds lines back when its output is a file, which a log is.
    return {"PYTHONUNBUFFERED": "1"}


def _rank(_plan: LaunchPlan, _task: TaskPlacement, rank: int) -> Environment:
    return {"RANK": str(rank), "NODE_RANK": str(rank)}


def _user(plan: LaunchPlan, task: TaskPlacement, _rank: int) -> Environment:
    texts: Mapping[str, str] = {**plan.spec.env, **plan.spec.role(task.role).env}
    return {name: resolve(text, plan.spec.parameters) for name, text in texts.items()}


def _identity(plan: LaunchPlan, task: TaskPlacement, _rank: int) -> Environment:
    return {
        "FOOTPLATE_ROLE": task.role,
        "FOOTPLATE_ROLE_COUNT": str(plan.spec.role(task.role).count),
        "FOOTPLATE_TASK_INDEX": str(task.index),
        "FOOTPLATE_TASK": f"{task.role}-{task.index}",
        "FOOTPLATE_NODE": task.node,
    }


def _ports(_plan: LaunchPlan, task: TaskPlacement, _rank: int) -> Environment:
    variables: Environment = {}
    for label, ports in task.ports:
        name = re.sub(r"\W", "_", label.upper(), flags=re.ASCII)
        variables[f"FOOTPLATE_PORT_{name}"] = str(ports[0])
        variables[f"FOOTPLATE_PORTS_{name}"] = ",".join(map(str, ports))
    return variables


def _devices(_plan: LaunchPlan, task: TaskPlacement, _rank: int) -> Environment:
    # Cards are numbered as NVML numbers them; an empty list hides all of them.
    return {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": ",".join(map(str, task.gpus))}


GANG: tuple[Callable[[LaunchPlan], Environment], ...] = (
    _live_output,
    _rendezvous,
    _job,
    _platform,
    _gang_members,
)
OWN: tuple[Callable[[LaunchPlan, TaskPlacement, int], Environment], ...] = (
    _rank,
    _user,
    _identity,
    _ports,
    _devices,
)


def _merged(parts: Any) -> Environment:
    merged: Environment = {}
    for part in parts:
        merged.update(part)
    return merged


def _json(name: str, value: Any) -> Environment:
    """Write a value as JSON, or leave it out where it would keep the task from starting."""
    text = json.dumps(value, separators=(",", ":"))
    return {name: text} if len(text) <= MAX_JSON_BYTES else {}
