"""Jobs as TI-ONE's clients read training tasks; lists are never null, numbers are numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from footplate.dialects.tione.catalogue import BY_HOUR, amounts
from footplate.dialects.tione.tasks import EXTRA, first_of, task_id
from footplate.domain.hidden import hide
from footplate.domain.job import Job, Task
from footplate.domain.messages import say
from footplate.domain.resources import Resources
from footplate.domain.spec import RoleSpec
from footplate.domain.states import JobState, TaskState

STATUS = {
    JobState.QUEUED: "PENDING",
    JobState.STARTING: "STARTING",
    JobState.RUNNING: "RUNNING",
    JobState.STOPPING: "STOPPING",
    JobState.STOPPED: "STOPPED",
    JobState.FAILED: "FAILED",
    JobState.SUCCEEDED: "SUCCEED",
}
STATES = {status: state for state, status in STATUS.items()}
# What a client may ask for that no job of ours ever is.
NEVER = frozenset({"SUBMITTING", "SUBMIT_FAILED"})


def kept(job: Job) -> Mapping[str, Any]:
    """What the task was asked for with, where a client of TI-ONE did."""
    found = job.spec.extras.get(EXTRA)
    return found if isinstance(found, Mapping) else {}


def charge_status(state: JobState) -> str:
    return "BILLING" if state is JobState.RUNNING else "NOT_BILLING"


def is_charged(job: Job, ways: Sequence[str]) -> bool:
    """Whether a task is paid for in one of some ways; without any, all are meant."""
    return not ways or (kept(job).get("charge") or BY_HOUR) in ways


def is_tagged(job: Job, wanted: Mapping[str, Sequence[str]]) -> bool:
    """Whether a task has every tag of these, with one of the values where some are named."""
    tags = dict(kept(job).get("tags", []))
    return all(key in tags and (not values or tags[key] in values) for key, values in wanted.items())


def moment(at: float | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def runtime_s(job: Job, now: float) -> int:
    if job.started_at is None:
        return 0
    return max(0, round((job.finished_at or now) - job.started_at))


def item(job: Job, now: float, region: str) -> dict[str, Any]:
    """A task in a list."""
    asked = kept(job)
    return {
        "Id": task_id(first_of(job.id, job.spec.tags)),
        "Name": asked.get("name") or job.spec.name,
        "FrameworkName": asked.get("framework") or job.spec.framework,
        "FrameworkVersion": "",
        "FrameworkEnvironment": asked.get("environment") or job.spec.framework,
        "ChargeType": asked.get("charge") or BY_HOUR,
        "ChargeStatus": charge_status(job.state),
        "ResourceGroupId": job.spec.queue,
        "ResourceGroupName": job.spec.queue,
        "ResourceGroupSWType": "NONE" if (asked.get("charge") or BY_HOUR) == BY_HOUR else "NORMAL",
        "ResourceConfigInfos": [role_view(role, asked) for role in job.spec.roles],
        "TrainingMode": asked.get("mode") or "DDP",
        "Status": STATUS[job.state],
        "RuntimeInSeconds": runtime_s(job, now),
        "CreateTime": moment(job.submitted_at),
        "StartTime": moment(job.started_at),
        "EndTime": moment(job.finished_at),
        "UpdateTime": moment(job.finished_at or job.running_at or job.started_at or job.submitted_at),
        "StartScheduleTime": moment(job.queued_at),
        "Output": asked.get("output"),
        "FailureReason": job.reason.message if job.state is JobState.FAILED else "",
        "Message": job.reason.message,
        "BillingInfo": "",
        "Uin": job.owner,
        "SubUin": job.owner,
        "SubUinName": job.owner,
        "Region": region,
        "AIMarketTemplateId": "",
        "Tags": [{"TagKey": key, "TagValue": value} for key, value in asked.get("tags", [])],
        "ImageInfo": {"ImageType": "CCR", "ImageUrl": job.spec.image} if job.spec.image else None,
        "CallbackUrl": "",
    }


def role_view(role: RoleSpec, asked: Mapping[str, Any]) -> dict[str, Any]:
    size = Resources(role.milli_cpus, role.memory_bytes, role.gpus)
    return {
        "Role": role.name.upper(),
        **amounts(size, role.gpu_type),
        "InstanceType": asked.get("types", {}).get(role.name) or role.instance_type,
        "InstanceTypeAlias": "",
        "InstanceNum": role.count,
        "RDMAConfig": {"Enable": False},
    }


def detail(job: Job, now: float, region: str, latest: str) -> dict[str, Any]:
    """A task with all that there is to say; `latest` is the job that stands for it by now."""
    asked = kept(job)
    return {
        **item(job, now, region),
        "CodePackagePath": asked.get("code"),
        "StartCmdInfo": asked.get("commands") or {"StartCmd": job.spec.roles[0].command},
        "DataSource": next((one["DataSourceType"] for one in asked.get("inputs", [])[-1:]), ""),
        "DataConfigs": asked.get("inputs", []),
        "TuningParameters": json.dumps(hide({"parameters": dict(job.spec.parameters)})["parameters"]),
        "LogEnable": True,
        "LogConfig": None,
        "LatestInstanceId": task_id(latest),
        "TensorBoardId": "",
        "Remark": job.spec.description,
        "SchedulePolicy": {"BackOffLimit": job.spec.retry},
        "Warnings": [stand_in_warning(name) for name in asked.get("stand_ins", [])],
        "CodeRepos": [],
    }


def stand_in_warning(name: str) -> dict[str, str]:
    return {"Message": str(say("example_fitted", type=name)), "Reason": "Example"}


def pod_name(job: Job, task: Task) -> str:
    return f"{task_id(job.id)}-{task.name}"


def pod_status(task: Task) -> str:
    if task.state is TaskState.EXITED:
        if task.cause == "stopped":
            return "TERMINATED"
        return "SUCCEEDED" if task.exit_code == 0 else "FAILED"
    named = {TaskState.RUNNING: "RUNNING", TaskState.LOST: "FAILED"}
    return named.get(task.state, "PENDING")


def pods(job: Job) -> dict[str, Any]:
    roles = {role.name: role for role in job.spec.roles}
    asked = kept(job)
    return {
        "PodNames": [pod_name(job, task) for task in job.tasks],
        "TotalCount": len(job.tasks),
        "PodInfoList": [
            {
                "Name": pod_name(job, task),
                "Status": pod_status(task),
                "NodeId": task.node,
                "StartTime": moment(task.started_at),
                "EndTime": moment(task.finished_at),
                "IP": task.address,
                "ResourceConfigInfo": role_view(roles[task.role], asked),
            }
            for task in job.tasks
        ],
    }
