"""What one task finds in its environment, for tests of single variables."""

from __future__ import annotations

from footplate.domain.cluster import TaskPlacement
from footplate.engines.base import LaunchPlan, TaskPaths
from footplate.engines.taskenv.environment import Environments
from footplate.engines.taskenv.gang import Environment, FindPaths, gather


def paths_below(root: str, plan: LaunchPlan, task: TaskPlacement) -> TaskPaths:
    """Say where tasks would see things below a folder."""
    job = f"{root}/{plan.job_id}"
    attempt = f"{job}/attempt-{plan.attempt}"
    own = f"{attempt}/{task.role}-{task.index}"
    return TaskPaths(
        work=f"{own}/work",
        checkpoints=f"{job}/checkpoints",
        output=f"{job}/output",
        notice=f"{own}/notice",
        strategy=f"{attempt}/strategy",
    )


def paths_of(plan: LaunchPlan, task: TaskPlacement) -> TaskPaths:
    return paths_below("/jobs", plan, task)


def task_environment(plan: LaunchPlan, role: str, index: int, paths: FindPaths = paths_of) -> Environment:
    """Say all that one task of a job without a strategy finds in its environment."""
    gang = gather(plan, paths)
    environments = Environments(gang)
    rank = gang.member_ranks[role, index]
    return {**environments.gang(), **environments.own(gang.tasks[rank], rank)}
