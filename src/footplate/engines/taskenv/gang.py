"""A gang as its variables need it: tasks by rank, members of the training group, addresses and ports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from footplate.domain.cluster import TaskPlacement
from footplate.domain.spec import RoleSpec
from footplate.engines.base import LaunchPlan, TaskPaths

Environment = dict[str, str]
FindPaths = Callable[[LaunchPlan, TaskPlacement], TaskPaths]

MAIN_PORT = "main"
# Linux refuses to start a program with a single variable of 128 KiB or more.
MAX_JSON_BYTES = 100 * 1024
# What names every task of the gang is left out above this: all variables together have about 2 MB.
MOST_LISTED_TASKS = 512
# What takes variables of its own for every task ends sooner: a shell with thousands of them starts slowly.
MOST_NAMED_TASKS = 128
_ENCODER = json.JSONEncoder(separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Gang:
    """All tasks of an attempt by rank, and those of them that form the training group."""

    plan: LaunchPlan
    tasks: tuple[TaskPlacement, ...]
    members: tuple[TaskPlacement, ...]
    roles: Mapping[str, RoleSpec]
    member_ranks: Mapping[tuple[str, int], int]
    is_on_loopback: bool
    find_paths: FindPaths
    # Each is asked for by several conventions.
    _paths: dict[tuple[str, int], TaskPaths] = field(default_factory=dict)

    def paths(self, task: TaskPlacement) -> TaskPaths:
        """Say where a task sees things."""
        known = self._paths.get((task.role, task.index))
        if known is None:
            known = self._paths[task.role, task.index] = self.find_paths(self.plan, task)
        return known

    @property
    def shared_paths(self) -> TaskPaths:
        """Say where all tasks see what they share."""
        return self.paths(self.tasks[0])

    @property
    def is_listable(self) -> bool:
        return len(self.tasks) <= MOST_LISTED_TASKS

    @property
    def is_nameable(self) -> bool:
        return len(self.tasks) <= MOST_NAMED_TASKS


@dataclass(frozen=True, slots=True)
class Group:
    """Variables of one convention for the members of a gang: what they share, and each one's own by rank."""

    shared: Mapping[str, str]
    own: Callable[[TaskPlacement, int], Mapping[str, str]]


def gather(plan: LaunchPlan, paths: FindPaths, takes_part: Callable[[RoleSpec], bool] | None = None) -> Gang:
    """Put an attempt's tasks in order; without `takes_part` every task is in the training group."""
    roles = {role.name: role for role in plan.spec.roles}
    tasks = ranked_tasks(plan)
    members = tasks
    if takes_part is not None:
        inside = {name for name, role in roles.items() if takes_part(role)}
        members = tuple(task for task in tasks if task.role in inside)
    ranks = {(task.role, task.index): rank for rank, task in enumerate(members)}
    is_on_loopback = all(task.address.startswith("127.") for task in tasks)
    return Gang(plan, tasks, members, roles, ranks, is_on_loopback, paths)


def ranked_tasks(plan: LaunchPlan) -> tuple[TaskPlacement, ...]:
    """Put the gang in the order of its ranks: roles as the job lists them, then by index."""
    order = {role.name: i for i, role in enumerate(plan.spec.roles)}
    return tuple(sorted(plan.placement.tasks, key=lambda task: (order[task.role], task.index)))


def port_of(task: TaskPlacement, label: str = MAIN_PORT) -> int | None:
    """Say the first port that a task has under a label, if it has any."""
    for name, ports in task.ports:
        if name == label:
            return ports[0]
    return None


def address_of(task: TaskPlacement, label: str = MAIN_PORT) -> str:
    """Write where a task listens: address and port."""
    host = f"[{task.address}]" if ":" in task.address else task.address
    port = port_of(task, label)
    return host if port is None else f"{host}:{port}"


def n_processes(task: TaskPlacement) -> int:
    """Say how many processes of a training one task holds: one for each card, or one."""
    return len(task.gpus) or 1


def write_json(name: str, value: Any) -> Environment:
    """Write a value as JSON, or leave it out where it would keep the task from starting."""
    text = _ENCODER.encode(value)
    return {name: text} if len(text) <= MAX_JSON_BYTES else {}
