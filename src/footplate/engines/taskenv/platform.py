"""The platform's own variables, FOOTPLATE_*, and the few defaults that every task is given."""

from __future__ import annotations

from footplate.domain.cluster import TaskPlacement
from footplate.domain.spec import RoleSpec, port_variable
from footplate.engines.taskenv.gang import MAX_JSON_BYTES, Environment, Gang, write_json


def defaults(gang: Gang) -> Environment:
    # Python holds lines back when its output is a file, which a log is.
    variables = {"PYTHONUNBUFFERED": "1"}
    if gang.is_on_loopback and len(gang.tasks) > 1:
        # Libraries that choose an interface by the host's name may find none that the others can reach.
        variables["GLOO_SOCKET_IFNAME"] = variables["NCCL_SOCKET_IFNAME"] = "lo"
    return variables


def job(gang: Gang) -> Environment:
    plan, spec = gang.plan, gang.plan.spec
    return {
        "FOOTPLATE_JOB_ID": plan.job_id,
        "FOOTPLATE_JOB_NAME": spec.name,
        "FOOTPLATE_USER": plan.owner,
        "FOOTPLATE_QUEUE": spec.queue,
        "FOOTPLATE_ATTEMPT": str(plan.attempt),
        "FOOTPLATE_ATTEMPT_ID": plan.attempt_id,
        "FOOTPLATE_ROLES": ",".join(gang.roles),
        "FOOTPLATE_TASK_COUNT": str(spec.n_tasks),
        **write_json("FOOTPLATE_PARAMETERS", dict(spec.parameters)),
    }


def offers(gang: Gang) -> Environment:
    plan, paths = gang.plan, gang.shared_paths
    offered = {
        "FOOTPLATE_CHECKPOINT_DIR": paths.checkpoints,
        "FOOTPLATE_OUTPUT_DIR": paths.output,
        "FOOTPLATE_URL": plan.url,
        "FOOTPLATE_TOKEN": plan.token,
    }
    return {name: value for name, value in offered.items() if value}


def members(gang: Gang) -> Environment:
    listed = [
        {"role": task.role, "index": task.index, "address": task.address, "ports": dict(task.ports)}
        for task in gang.tasks
    ]
    nodes = ",".join(dict.fromkeys(task.node for task in gang.tasks))
    return {
        **write_json("FOOTPLATE_TASKS", listed),
        **({"FOOTPLATE_NODES": nodes} if len(nodes) <= MAX_JSON_BYTES else {}),
    }


def role(_gang: Gang, role: RoleSpec) -> Environment:
    return {"FOOTPLATE_ROLE": role.name, "FOOTPLATE_ROLE_COUNT": str(role.count)}


def identity(gang: Gang, task: TaskPlacement, _rank: int) -> Environment:
    plan = gang.plan
    return {
        "FOOTPLATE_TASK_INDEX": str(task.index),
        "FOOTPLATE_TASK": f"{task.role}-{task.index}",
        "FOOTPLATE_TASK_RUN": str(plan.runs.get((task.role, task.index), 0)),
        "FOOTPLATE_NODE": task.node,
        "FOOTPLATE_NOTICE_FILE": gang.paths(task).notice,
    }


def ports(_gang: Gang, task: TaskPlacement, _rank: int) -> Environment:
    variables: Environment = {}
    for label, numbers in task.ports:
        name = port_variable(label)
        variables[f"FOOTPLATE_PORT_{name}"] = str(numbers[0])
        variables[f"FOOTPLATE_PORTS_{name}"] = ",".join(map(str, numbers))
    return variables


def desktop(gang: Gang, task: TaskPlacement, _rank: int) -> Environment:
    """Lead windows to the desktop that the job's file asks for: the first screen of this task's own files."""
    spec = gang.plan.spec
    roles = [service.role or spec.roles[0].name for service in spec.services if service.kind == "desktop"]
    return {"DISPLAY": ":1"} if task.index == 0 and task.role in roles else {}
