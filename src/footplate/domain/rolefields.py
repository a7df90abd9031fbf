"""The fields of a role in a job file: tasks, resources, ports, completion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from footplate.domain import spec as s
from footplate.domain.fields import Field, ListOf, Nullable, Record
from footplate.domain.kinds import Cpus, Integer, Size, Text
from footplate.domain.messages import say
from footplate.domain.names import COMMAND, ENV, IMAGE, LABEL, ROLE_NAME, TYPE_NAME
from footplate.domain.problems import MISSING, Problems, join
from footplate.domain.resources import MIB

MAX_TASKS = 10_000
PORT = Record(
    s.PortRange,
    (
        Field("label", LABEL, "Name under which the task finds the ports."),
        Field(
            "begin_at",
            Integer(0, 65_535),
            "First port to try: the task gets the first free ports in a row from here on; "
            "`footplate show` and the task's variables have them. 0 lets the platform choose.",
            0,
        ),
        Field("count", Integer(1, 100), "How many ports in a row.", 1),
    ),
    short="label",
)
COMPLETION = Record(
    s.Completion,
    (
        Field(
            "min_failed",
            Nullable(Integer(1, MAX_TASKS)),
            "The job fails when this many tasks of the role have failed; null: failures never end the job.",
            1,
        ),
        Field(
            "min_succeeded",
            Nullable(Integer(1, MAX_TASKS)),
            "The job succeeds when this many tasks of the role have; null: when all tasks are done.",
            None,
        ),
    ),
)


def _check_role(role: Mapping[str, Any], path: str, problems: Problems) -> None:
    completion, count = role["completion"], role["count"]
    if completion is not MISSING and count is not MISSING:
        for name in ("min_failed", "min_succeeded"):
            wanted = getattr(completion, name)
            if wanted is not None and wanted > count and getattr(s.Completion(), name) != wanted:
                where = join(join(path, "completion"), name)
                problems.add(where, "more_than_count", count=count, given=wanted)
    shm, memory = role["shm_bytes"], role["memory_bytes"]
    # A type has memory of its own.
    if (
        not role["instance_type"]
        and MISSING not in (shm, memory)
        and shm > memory
        and shm != s.DEFAULT_SHM_BYTES
    ):
        problems.add(join(path, "shm"), "more_than_memory", memory_bytes=memory)
    if role["gpu_type"] and role["gpus"] == 0:
        problems.add(join(path, "gpu_type"), "gpu_type_without_gpus")
    if role["ports"] is not MISSING:
        _check_ports(role["ports"], join(path, "ports"), problems)


def _check_ports(ports: Sequence[Any], path: str, problems: Problems) -> None:
    labels: dict[str, str] = {}
    for i, port in enumerate(ports):
        if port is MISSING:
            continue
        where = join(path, i)
        if port.begin_at and not 1024 <= port.begin_at <= 65_536 - port.count:
            high = 65_536 - port.count
            problems.add(join(where, "begin_at"), "bad_first_port", high=high, given=port.begin_at)
        variable = f"FOOTPLATE_PORT_{s.port_variable(port.label)}"
        other = labels.setdefault(variable, port.label)
        if other != port.label:
            shared = say("ports_share_variable", label=port.label, other=other, variable=variable)
            problems.add(join(where, "label"), shared)


# What a job of one role may write beside `name`, without a list of roles.
ROLE_BODY = (
    Field("command", COMMAND, "Shell command of each task; several lines stop at the first that fails."),
    Field("count", Integer(1, MAX_TASKS), "Number of tasks.", 1),
    Field(
        "type",
        TYPE_NAME,
        "Instance type, which says CPUs, memory and GPUs of each task; see `footplate types`.",
        "",
        "instance_type",
    ),
    Field(
        "cpus",
        Cpus(10, 1_024_000),
        "CPUs of each task, fractions allowed.",
        s.DEFAULT_MILLI_CPUS,
        "milli_cpus",
    ),
    Field(
        "memory",
        Size(16 * MIB, 64 * 1024**4),
        "Memory of each task, with a unit.",
        s.DEFAULT_MEMORY_BYTES,
        "memory_bytes",
    ),
    Field("shm", Size(MIB, 64 * 1024**4), "Shared memory of each task.", s.DEFAULT_SHM_BYTES, "shm_bytes"),
    Field("gpus", Integer(0, 1024), "GPUs of each task.", 0),
    Field("gpu_type", Text(64, 0, r"[A-Za-z0-9._ -]{0,64}", "gpu_type"), "GPU type (default: any).", ""),
    Field("ports", ListOf(PORT, 32, unique="label"), "Ports that each task gets.", ()),
    Field("completion", COMPLETION, "When this role decides the job.", s.Completion()),
    Field(
        "task_retry", Integer(0, 1000), "Retries of a single failed task, without restarting the others.", 0
    ),
)
ROLE = Record(
    s.RoleSpec,
    (
        Field("name", ROLE_NAME, "Name of the role, unique in the job.", s.DEFAULT_ROLE),
        *ROLE_BODY,
        Field("image", IMAGE, "Image of this role (default: the job's).", ""),
        Field("env", ENV, "Environment variables of this role, in addition to the job's.", {}),
    ),
    checks=(_check_role,),
)
