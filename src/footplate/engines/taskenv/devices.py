"""Variables that select the GPUs of a task, for the libraries of each vendor."""

from __future__ import annotations

import re

from footplate.domain.cluster import TaskPlacement
from footplate.engines.taskenv.gang import Environment, Gang

_AMD = re.compile(r"amd|radeon|instinct|\bmi\d|gfx", re.IGNORECASE)
_ASCEND = re.compile(r"ascend|atlas|\bnpu", re.IGNORECASE)


def devices(gang: Gang, task: TaskPlacement, _rank: int) -> Environment:
    """Name the task's cards; an empty list hides all of them."""
    cards = ",".join(map(str, task.gpus))
    kind = gang.roles[task.role].gpu_type
    if kind and _AMD.search(kind):
        # ROCR hides cards first and HIP counts what is left, so both lists together would hide too many.
        left = ",".join(map(str, range(len(task.gpus))))
        return {"ROCR_VISIBLE_DEVICES": cards, "HIP_VISIBLE_DEVICES": left, "CUDA_VISIBLE_DEVICES": left}
    if kind and _ASCEND.search(kind):
        return {
            "ASCEND_VISIBLE_DEVICES": cards,
            "ASCEND_RT_VISIBLE_DEVICES": cards,
            "CUDA_VISIBLE_DEVICES": "",
        }
    # Cards are numbered as NVML numbers them.
    return {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": cards,
        "NVIDIA_VISIBLE_DEVICES": cards or "none",
    }
