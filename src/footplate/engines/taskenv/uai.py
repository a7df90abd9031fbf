"""What UAI-Train gives to a node; its folders come as options of the command, which the dialect appends."""

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
