"""The variables that UAI-Train sets for a node; the dialect passes its folders as options of the command."""

from __future__ import annotations

from footplate.domain.cluster import TaskPlacement
from footplate.engines.taskenv.gang import Environment, Gang

# How jobs of its tools are marked, in their extras.
MARK = "uai"


def gang(gang: Gang) -> Environment:
    members = gang.members or gang.tasks
    if MARK in gang.plan.spec.extras:
        # A parameter server is beside the nodes that were asked for.
        members = tuple(task for task in members if task.role != "ps")
    variables = {"WORKER_NUM": str(len(members))}
    if gang.is_listable:
        variables["UAI_HOSTS"] = ",".join(task.address for task in members)
    return variables


def task(_gang: Gang, task: TaskPlacement, _rank: int) -> Environment:
    return {"WORKER_GPU_NUM": str(len(task.gpus))}
