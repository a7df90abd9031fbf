"""The PAI_* variables of OpenPAI, in the spellings of all its versions, and FC_* of its controller.

Names and values with a role come in two spellings where they differ: as the job writes it, and in small
letters and digits only, as the later versions do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

from footplate.domain.cluster import TaskPlacement
from footplate.domain.resources import MIB
from footplate.domain.spec import RoleSpec
from footplate.engines.taskenv.gang import MAIN_PORT, Environment, Gang, port_of

HTTP, SSH = "http", "ssh"
# PAI's word for a count that never decides.
NEVER = -1
# With many ports on many tasks the list of them all would fill the room that a program's start has.
MAX_LISTED_BYTES = 256 * 1024
_NOT_COMPACT = re.compile(r"[^a-z0-9]")


def gang(gang: Gang) -> Environment:
    plan, spec = gang.plan, gang.plan.spec
    full_name, roles = f"{plan.owner}~{spec.name}", ",".join(gang.roles)
    n_roles, n_tasks = str(len(spec.roles)), str(spec.n_tasks)
    variables = {
        "PAI_JOB_NAME": full_name,
        "PAI_FRAMEWORK_NAME": full_name,
        "FC_FRAMEWORK_NAME": full_name,
        "FC_FRAMEWORK_ATTEMPT_ID": str(plan.attempt),
        "PAI_VIRTUAL_CLUSTER": spec.queue,
        "PAI_USER_NAME": plan.owner,
        "PAI_USERNAME": plan.owner,
        "PAI_DEFAULT_FS_URI": "file://" + quote(gang.shared_paths.output),
        "PAI_TASK_ROLE_COUNT": n_roles,
        "PAI_TASK_ROLES_NUM": n_roles,
        "PAI_JOB_TASK_ROLE_COUNT": n_roles,
        "PAI_TASK_ROLE_LIST": roles,
        "PAI_JOB_TASK_ROLE_LIST": roles,
        "PAI_TASKS_NUM": n_tasks,
        "PAI_JOB_TASK_COUNT": n_tasks,
    }
    if spec.data:
        variables["PAI_DATA_DIR"] = spec.data[0].path
    variables["PAI_OUTPUT_DIR"] = gang.shared_paths.output
    for role in spec.roles:
        variables.update(_of_any_role(role))
    variables.update(_places(gang))
    return variables


def _of_any_role(role: RoleSpec) -> Environment:
    name = role.name
    return {
        f"PAI_TASK_ROLE_TASK_COUNT_{name}": str(role.count),
        f"PAI_RESOURCE_{name}": _resources(role),
        f"PAI_MIN_FAILED_TASK_COUNT_{name}": _threshold(role.completion.min_failed),
        f"PAI_MIN_SUCCEEDED_TASK_COUNT_{name}": _threshold(role.completion.min_succeeded),
    }


def _resources(role: RoleSpec) -> str:
    return f"{role.gpus},{_cpus(role)},{role.memory_bytes // MIB},{role.shm_bytes // MIB}"


def _cpus(role: RoleSpec) -> int:
    return max(1, role.milli_cpus // 1000)


def _threshold(count: int | None) -> str:
    return str(NEVER if count is None else count)


def _places(gang: Gang) -> Environment:
    """Say where every task of the gang is; nothing where that would be too long to start a program with."""
    if not gang.is_nameable:
        return {}
    variables: Environment = {}
    hosts: dict[str, list[str]] = {}
    instances = []
    for task in gang.tasks:
        compact = _compact(task.role)
        instances.append(f"{compact}:{task.index}")
        for role in {task.role, compact}:
            variables[f"PAI_HOST_IP_{role}_{task.index}"] = task.address
            for label, ports in _labelled(task):
                variables[f"PAI_PORT_LIST_{role}_{task.index}_{label}"] = ports
                variables[f"PAI_{role}_{task.index}_{label}_PORT"] = ports
            hosts.setdefault(role, []).append(f"{task.address}:{_http(task)}")
    for role, listed in hosts.items():
        variables[f"PAI_TASK_ROLE_{role}_HOST_LIST"] = ",".join(listed)
    variables["PAI_TASK_ROLE_INSTANCES"] = ",".join(instances)
    n_bytes = sum(map(len, variables)) + sum(map(len, variables.values()))
    return variables if n_bytes <= MAX_LISTED_BYTES else {}


def _compact(role: str) -> str:
    return _NOT_COMPACT.sub("", role.lower())


def _labelled(task: TaskPlacement) -> Iterator[tuple[str, str]]:
    """Go through a task's ports; every task of PAI has one called http and one called ssh."""
    for label, numbers in task.ports:
        yield label, ",".join(map(str, numbers))
    main = port_of(task)
    for label in (HTTP, SSH) if main is not None else ():
        # A job that listens at more than one of them asks for ports of these names.
        if port_of(task, label) is None:
            yield label, str(main)


def _http(task: TaskPlacement) -> str:
    port = port_of(task, HTTP) or port_of(task, MAIN_PORT)
    return "" if port is None else str(port)


def role(_gang: Gang, role: RoleSpec) -> Environment:
    """Say the numbers of the task's own role."""
    count, cpus, memory = str(role.count), str(_cpus(role)), str(role.memory_bytes // MIB)
    return {
        "PAI_CURRENT_TASK_ROLE_NAME": role.name,
        "PAI_TASK_ROLE_NAME": role.name,
        "FC_TASKROLE_NAME": role.name,
        "PAI_TASK_ROLE_NUM": count,
        "PAI_CURRENT_TASK_ROLE_TASK_COUNT": count,
        "PAI_TASK_CPU_NUM": cpus,
        "PAI_CURRENT_TASK_ROLE_CPU_COUNT": cpus,
        "PAI_TASK_MEM_MB": memory,
        "PAI_CURRENT_TASK_ROLE_MEM_MB": memory,
        "PAI_TASK_GPU_NUM": str(role.gpus),
        "PAI_CURRENT_TASK_ROLE_GPU_COUNT": str(role.gpus),
        "PAI_CURRENT_TASK_ROLE_SHM_MB": str(role.shm_bytes // MIB),
        "PAI_CURRENT_TASK_ROLE_MIN_FAILED_TASK_COUNT": _threshold(role.completion.min_failed),
        "PAI_CURRENT_TASK_ROLE_MIN_SUCCEEDED_TASK_COUNT": _threshold(role.completion.min_succeeded),
        "PAI_RESOURCE": _resources(role),
    }


def task(gang: Gang, task: TaskPlacement, _rank: int) -> Environment:
    """Say the task's own place."""
    index, http = str(task.index), _http(task)
    work = gang.paths(task).work
    name = f"{gang.plan.attempt_id}.{task.role}-{index}"
    variables = {
        "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX": index,
        "PAI_TASK_INDEX": index,
        "PAI_TASK_ROLE_INDEX": index,
        "FC_TASK_INDEX": index,
        "FC_TASK_ATTEMPT_ID": str(gang.plan.runs.get((task.role, task.index), 0)),
        "FC_POD_UID": name,
        "PAI_CONTAINER_ID": name,
        "PAI_CURRENT_CONTAINER_IP": task.address,
        "PAI_CONTAINER_HOST_IP": task.address,
        "PAI_CURRENT_CONTAINER_PORT": http,
        "PAI_CONTAINER_HOST_PORT": http,
        "PAI_WORK_DIR": work,
        "PAI_CODE_DIR": work,
    }
    ports = list(_labelled(task))
    variables["PAI_CONTAINER_HOST_PORT_LIST"] = "".join(f"{label}:{numbers};" for label, numbers in ports)
    for label, numbers in ports:
        variables[f"PAI_CONTAINER_HOST_{label}_PORT_LIST"] = numbers
    ssh = port_of(task, SSH) or port_of(task)
    if ssh is not None:
        variables["PAI_CONTAINER_SSH_PORT"] = str(ssh)
    return variables
