"""TF_CONFIG: TensorFlow's cluster of tasks by role, and this task's place in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from footplate.domain.cluster import TaskPlacement
from footplate.engines.taskenv.gang import Environment, Gang, Group, address_of

CHIEFS = ("chief", "master")
IN_CLUSTER = (*CHIEFS, "ps", "worker")
# An evaluator knows the cluster and is not in it.
EVALUATOR = "evaluator"
NAMES = (*IN_CLUSTER, EVALUATOR)


def task_type_of_roles(names: Iterable[str]) -> dict[str, str]:
    """Map roles to TensorFlow's names; a single role of another name is the worker where none is."""
    listed = list(names)
    types = {name: name.lower() for name in listed if name.lower() in NAMES}
    others = [name for name in listed if name not in types]
    if len(others) == 1 and "worker" not in types.values():
        types[others[0]] = "worker"
    return types


def tensorflow(gang: Gang) -> Group:
    """Write TF_CONFIG for jobs of several tasks that use at least one of TensorFlow's names."""
    if len(gang.tasks) < 2 or not any(name.lower() in NAMES for name in gang.roles):
        return Group({}, lambda _task, _rank: {})
    return tf_config(gang)


def tf_config(gang: Gang) -> Group:
    """Write TF_CONFIG for every task that has a place, whatever else is in the job."""
    types = task_type_of_roles(gang.roles)
    cluster = _cluster(gang, types) if gang.is_listable else None

    def own(task: TaskPlacement, _rank: int) -> Environment:
        type_ = types.get(task.role)
        if type_ is None or cluster is None:
            return {}
        place = f'{{"type":"{type_}","index":{task.index}}}'
        return {"TF_CONFIG": f'{{"cluster":{cluster},"task":{place},"environment":"cloud"}}'}

    return Group({}, own)


def _cluster(gang: Gang, types: Mapping[str, str]) -> str:
    cluster: dict[str, list[str]] = {}
    for task in gang.tasks:
        type_ = types.get(task.role)
        if type_ in IN_CLUSTER:
            cluster.setdefault(type_, []).append(address_of(task))
    return json.dumps(cluster, separators=(",", ":"))
