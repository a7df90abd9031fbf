"""The variables that TI-ONE sets for a training task, and that its client tikit reads.

KUBERNETES_SERVICE_HOST is left out: with it the client would speak to a host of its maker's network, and
other libraries would look for a Kubernetes that is not there.
"""

from __future__ import annotations

from footplate.domain.cluster import TaskPlacement
from footplate.engines.taskenv.gang import Environment, Gang, n_processes

# The client refuses to start without a region and accepts any.
REGION = "local"


def _id(gang: Gang) -> str:
    """The id of the job, as clients of TI-ONE know it."""
    return f"train-{gang.plan.job_id}"


def gang(gang: Gang) -> Environment:
    members = gang.members or gang.tasks
    return {
        "NODE_NUM": str(len(members)),
        "CHIEF_IP": members[0].address,
        "TI_TASK_ID": _id(gang),
        "REGION": REGION,
    }


def task(gang: Gang, task: TaskPlacement, rank: int) -> Environment:
    place = gang.member_ranks.get((task.role, task.index), rank)
    return {
        "INDEX": str(place),
        # Start scripts hand this to --nproc_per_node, where 0 would start nothing.
        "GPU_NUM_PER_NODE": str(n_processes(task)),
        "TI_INSTANCE_ID": f"{_id(gang)}-{task.role}-{task.index}",
    }
