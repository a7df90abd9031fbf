"""A mirror of the variables that Slurm gives to the tasks of `srun`, for scripts that read them."""

from __future__ import annotations

import zlib

from footplate.domain.cluster import TaskPlacement
from footplate.engines.taskenv.gang import Environment, Gang, Group


def slurm(gang: Gang) -> Group:
    """Say where a task stands; every task counts as a node, since it sees its own cards only."""
    return Group(_shared(gang), _own)


def _shared(gang: Gang) -> Environment:
    plan, size, number = gang.plan, str(len(gang.members)), _number(gang.plan.job_id)
    variables = {
        "SLURM_JOB_ID": number,
        "SLURM_JOBID": number,
        "SLURM_JOB_NAME": plan.spec.name,
        "SLURM_JOB_USER": plan.owner,
        "SLURM_JOB_PARTITION": plan.spec.queue,
        "SLURM_NTASKS": size,
        "SLURM_NPROCS": size,
        "SLURM_NNODES": size,
        "SLURM_JOB_NUM_NODES": size,
        # Lightning refuses to start without it, or when it wants more processes than that.
        "SLURM_NTASKS_PER_NODE": "1",
        "SLURM_LOCALID": "0",
        # There is no srun for mpirun to call, whatever these variables make it believe.
        "OMPI_MCA_plm": "^slurm",
        "OMPI_MCA_ras": "^slurm",
        "PRTE_MCA_plm": "^slurm",
        "PRTE_MCA_ras": "^slurm",
        "HYDRA_RMK": "user",
        "HYDRA_LAUNCHER": "ssh",
    }
    if gang.is_listable:
        nodes = ",".join(task.address for task in gang.members)
        for name in ("SLURM_NODELIST", "SLURM_JOB_NODELIST", "SLURM_STEP_NODELIST"):
            variables[name] = nodes
    return variables


def _own(task: TaskPlacement, rank: int) -> Environment:
    return {
        "SLURM_PROCID": str(rank),
        "SLURM_NODEID": str(rank),
        "SLURM_CPUS_PER_TASK": str(max(1, task.resources.milli_cpus // 1000)),
    }


def _number(job_id: str) -> str:
    """Write a job's id as a number, which scripts compute ports from."""
    return str(int(job_id, 36) if job_id.isalnum() and job_id.isascii() else zlib.crc32(job_id.encode()))
