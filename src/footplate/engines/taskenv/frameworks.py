"""The variables of PyTorch, JAX and Ray; a task counts as a machine with one process per GPU."""

from __future__ import annotations

from footplate.domain.cluster import TaskPlacement
from footplate.engines.taskenv.gang import (
    MAIN_PORT,
    Environment,
    Gang,
    Group,
    address_of,
    n_processes,
    port_of,
)

RAY_PORT = "ray"


def pytorch(gang: Gang) -> Group:
    """Say what `env://` needs, and the options of torchrun, which it reads from PET_ variables."""
    return Group(_torch_shared(gang), _torch_own)


def _torch_shared(gang: Gang) -> Environment:
    master, size = gang.members[0], str(len(gang.members))
    variables = {
        "WORLD_SIZE": size,
        "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": master.address,
        "PET_NNODES": size,
        "PET_MASTER_ADDR": master.address,
        "PET_RDZV_BACKEND": "static",
        "PET_RDZV_ID": gang.plan.attempt_id,
    }
    port = port_of(master)
    if port is not None:
        variables["MASTER_PORT"] = variables["PET_MASTER_PORT"] = str(port)
        variables["PET_RDZV_ENDPOINT"] = address_of(master)
    return variables


def _torch_own(task: TaskPlacement, rank: int) -> Environment:
    text = str(rank)
    return {
        "RANK": text,
        "NODE_RANK": text,
        "GROUP_RANK": text,
        "PET_NODE_RANK": text,
        "PET_NPROC_PER_NODE": str(n_processes(task)),
    }


def jax(gang: Gang) -> Group:
    """The address of the coordinator, and the process ids."""
    shared = {
        "JAX_COORDINATOR_ADDRESS": address_of(gang.members[0]),
        "JAX_NUM_PROCESSES": str(len(gang.members)),
    }
    return Group(shared, _jax_own)


def _jax_own(task: TaskPlacement, rank: int) -> Environment:
    variables = {"JAX_PROCESS_ID": str(rank)}
    if task.gpus:
        # A process that knows its place on the machine would take one card only.
        variables["JAX_LOCAL_DEVICE_IDS"] = ",".join(map(str, range(len(task.gpus))))
    return variables


def ray(gang: Gang) -> Group:
    """Say where the head of a cluster of Ray is: rank 0, at its port `ray` or else `main`."""
    head = gang.members[0]
    label = RAY_PORT if port_of(head, RAY_PORT) is not None else MAIN_PORT
    # A task alone must not be made to look for a cluster that nobody has started.
    shared = (
        {"RAY_ADDRESS": address_of(head, label)} if len(gang.members) > 1 and port_of(head, label) else {}
    )
    return Group(shared, lambda _task, _rank: {})
