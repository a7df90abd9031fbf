"""The variables that UAI-Train sets for a node; the dialect passes its folders as options of the command."""

from __future__ import annotations

from footplate.domain.cluster import TaskPlacement
from footplate.engines.taskenv.gang import Environment, Gang


def gang(gang: Gang) -> Environment:
    members = gang.members or gang.tasks
    variables = {"WORKER_NUM": str(len(members))}
    if gang.is_listable:
        variables["UAI_HOSTS"] = ",".join(task.address for task in members)
    return variables


def task(_gang: Gang, task: TaskPlacement, _rank: int) -> Environment:
    return {"WORKER_GPU_NUM": str(len(task.gpus))}
