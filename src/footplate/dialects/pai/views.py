"""Jobs as OpenPAI shows them: summaries, details, tasks, attempts, events."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from footplate.dialects.pai import exits
from footplate.dialects.pai.v2 import PRIORITIES
from footplate.domain.job import Job, Task
from footplate.domain.listing import SeenJob
from footplate.domain.states import JobState, ReasonCode, TaskState

View = dict[str, Any]
# Address and port by which people come into tasks over SSH, by the tasks' names.
Ways = Mapping[str, tuple[str, int]]
NO_WAYS: Ways = {}
_STATES = {
    JobState.QUEUED: ("WAITING", "AttemptCreationPending"),
    JobState.STARTING: ("WAITING", "AttemptPreparing"),
    JobState.RUNNING: ("RUNNING", "AttemptRunning"),
    JobState.STOPPING: ("STOPPING", "AttemptDeletionRequested"),
    JobState.SUCCEEDED: ("SUCCEEDED", "Completed"),
    JobState.FAILED: ("FAILED", "Completed"),
    JobState.STOPPED: ("STOPPED", "Completed"),
}
_V1_STATES = {
    JobState.QUEUED: "FRAMEWORK_WAITING",
    JobState.STARTING: "APPLICATION_LAUNCHED",
    JobState.RUNNING: "APPLICATION_RUNNING",
    JobState.STOPPING: "APPLICATION_RETRIEVING_DIAGNOSTICS",
}
_V1_OVER = "FRAMEWORK_COMPLETED"
STATES_BY_NAME: Mapping[str, Sequence[JobState]] = {
    "WAITING": (JobState.QUEUED, JobState.STARTING),
    "RUNNING": (JobState.RUNNING,),
    "STOPPING": (JobState.STOPPING,),
    "SUCCEEDED": (JobState.SUCCEEDED,),
    "FAILED": (JobState.FAILED,),
    "STOPPED": (JobState.STOPPED,),
}
_CLASSES = {number: name for name, number in PRIORITIES.items() if number}
_WARNINGS = frozenset({"failed", "task_lost", "waiting", "task_retried", "requeued"})


def millis(at: float | None) -> int | None:
    return None if at is None else int(at * 1000)


def compact(role: str) -> str:
    """The name of a role as its later versions write it."""
    return re.sub(r"[^a-z0-9]", "", role.lower())


def role_names(job: Job) -> dict[str, str]:
    """How each role is called in answers; as the job has it where two would be called the same."""
    short = [compact(role.name) for role in job.spec.roles]
    is_clear = len(set(short)) == len(short) and all(short)
    return {
        role.name: name if is_clear else role.name for role, name in zip(job.spec.roles, short, strict=True)
    }


def summary(seen: SeenJob, n_roles: int, is_v1: bool = False) -> View:
    line = seen.line
    state, sub_state = _STATES[line.state]
    over = exits.STOPPED if line.state is JobState.STOPPED else _exit_of(seen)
    view = {
        "name": line.name,
        "username": line.owner,
        "state": state,
        "subState": _V1_STATES.get(line.state, _V1_OVER) if is_v1 else sub_state,
        "executionType": "STOP" if state in ("STOPPING", "STOPPED") else "START",
        "retries": line.attempt,
        "retryDetails": _retries(line.retries_used, line.attempt),
        "retryDelayTime": None,
        "submissionTime": millis(line.submitted_at),
        "createdTime": millis(line.submitted_at),
        "launchedTime": millis(line.started_at),
        "completedTime": millis(line.finished_at) if line.state.is_final else None,
        "appExitCode": over,
        "virtualCluster": line.queue,
        "totalGpuNumber": line.gpus,
        "totalTaskNumber": line.n_tasks,
    }
    if is_v1:
        return view
    return view | {
        "totalTaskRoleNumber": n_roles,
        "tags": list(line.tags),
        "debugId": debug_id(line.owner, line.name),
        "jobPriority": _CLASSES.get(line.priority),
    }


def _exit_of(seen: SeenJob) -> int | None:
    line = seen.line
    if not line.state.is_final:
        return None
    if line.state is JobState.SUCCEEDED:
        return 0
    code = seen.reason.details.get("exit_code")
    return code if isinstance(code, int) else exits.UNKNOWN


def _retries(own: int, attempts: int) -> View:
    return {"user": own, "platform": max(0, attempts - own), "resource": 0}


def debug_id(owner: str, name: str) -> str:
    return hashlib.md5(f"{owner}~{name}".encode(), usedforsecurity=False).hexdigest()


def detail(job: Job, is_v1: bool = False, ways: Ways = NO_WAYS) -> View:
    """A whole job, with the tasks of its current attempt."""
    names = {role.name: role.name for role in job.spec.roles} if is_v1 else role_names(job)
    view: View = {
        "name": job.spec.name,
        "jobStatus": _status(job, is_v1),
        "taskRoles": {
            names[role.name]: {
                "taskRoleStatus": {"name": names[role.name]},
                "taskStatuses": [task_view(job, one, ways) for one in job.tasks if one.role == role.name],
            }
            for role in job.spec.roles
        },
    }
    if is_v1:
        return view
    priority = _CLASSES.get(job.spec.priority)
    ids = {"debugId": debug_id(job.owner, job.spec.name), "jobPriority": priority}
    return {**view, "tags": list(job.spec.tags), **ids}


def _status(job: Job, is_v1: bool) -> View:
    state, sub_state = _state_of(job)
    code = exits.of_job(job)
    trigger = _trigger(job) if code not in (None, 0) else None
    why = str(job.reason.said) if job.state.is_final else None
    return {
        "username": job.owner,
        "virtualCluster": job.spec.queue,
        "state": state,
        "subState": _V1_STATES.get(job.state, _V1_OVER) if is_v1 else sub_state,
        "executionType": "STOP" if state in ("STOPPING", "STOPPED") else "START",
        "retries": job.attempt,
        "retryDetails": _retries(job.retries_used, job.attempt),
        "retryDelayTime": None,
        "submissionTime": millis(job.submitted_at),
        "createdTime": millis(job.submitted_at),
        "launchedTime": millis(job.started_at),
        "completedTime": millis(job.finished_at) if job.state.is_final else None,
        "attemptId": job.attempt,
        "attemptState": state,
        "appId": job.attempt_id,
        "appProgress": 1 if job.state.is_final else 0,
        "appTrackingUrl": "",
        "appCreatedTime": millis(job.queued_at),
        "appLaunchedTime": millis(job.running_at or job.started_at),
        "appCompletedTime": millis(job.finished_at) if job.state.is_final else None,
        "appExitCode": code,
        "appExitSpec": exits.spec_of(code, why or ""),
        "appExitDiagnostics": why,
        "appExitMessages": {"container": None, "runtime": None, "launcher": why} if why else None,
        "appExitTriggerMessage": why,
        "appExitTriggerTaskRoleName": trigger.role if trigger else None,
        "appExitTriggerTaskIndex": trigger.index if trigger else None,
        "appExitType": (exits.spec_of(code) or {}).get("type"),
    }


def _state_of(job: Job) -> tuple[str, str]:
    if job.state is JobState.STOPPING and (job.next is None or job.next.state is not JobState.STOPPED):
        return "RUNNING", "AttemptCompleted"
    return _STATES[job.state]


def _trigger(job: Job) -> Task | None:
    failed = [task for task in job.tasks if task.has_failed]
    return min(failed, key=lambda task: task.finished_at or 0.0, default=None)


def task_state(task: Task) -> str:
    if task.state in (TaskState.WAITING, TaskState.STARTING):
        return "WAITING"
    if task.state is TaskState.RUNNING:
        return "RUNNING"
    code = exits.of_task(task)
    return "SUCCEEDED" if code == 0 else "STOPPED" if code == exits.COLLATERAL else "FAILED"


def task_view(job: Job, task: Task, ways: Ways = NO_WAYS) -> View:
    code = exits.of_task(task)
    state = task_state(task)
    return {
        "taskIndex": task.index,
        "taskUid": f"{job.id}-{task.name}",
        "taskState": state,
        **_container(job, task, job.attempt, task.run, ways),
        "retries": task.run,
        "accountableRetries": task.run,
        "createdTime": millis(job.queued_at),
        "launchedTime": millis(task.started_at),
        "completedTime": millis(task.finished_at),
        "attemptId": task.run,
        "attemptState": state,
        "currentAttemptCreatedTime": millis(job.queued_at),
        "currentAttemptLaunchedTime": millis(task.started_at),
        "currentAttemptCompletedTime": millis(task.finished_at),
        "containerExitCode": code,
        "hived": None,
    }


def _container(job: Job, task: Task, attempt: int, run: int, ways: Ways = NO_WAYS) -> View:
    code, way = exits.of_task(task), ways.get(task.name)
    return {
        "containerId": _container_id(job, task, attempt, run),
        # Their command writes address and port into one line for ssh.
        "containerIp": way[0] if way else task.address or None,
        "containerNodeName": task.node or None,
        "containerPorts": {**_ports(task), "ssh": str(way[1])} if way else _ports(task),
        "containerGpus": ",".join(map(str, task.gpus)) or None,
        "containerLog": logs_path(job, attempt, task, run),
        "containerExitCode": code,
        "containerExitSpec": exits.spec_of(code),
        "containerExitDiagnostics": None if task.detail is None else str(task.detail),
    }


def _container_id(job: Job, task: Task, attempt: int, run: int) -> str | None:
    return f"{job.id}.{attempt}.{task.name}.{run}" if task.started_at is not None else None


def ssh_view(job: Job, ways: Ways, link: str) -> View:
    """Where to come in by SSH, and with which key."""
    name = f"{job.owner}~{job.spec.name}"
    return {
        "containers": [
            {
                "id": _container_id(job, task, job.attempt, task.run),
                "sshIp": ways[task.name][0],
                "sshPort": str(ways[task.name][1]),
            }
            for task in job.tasks
            if task.name in ways
        ],
        "keyPair": {
            "folderPath": "",
            "publicKeyFileName": f"{name}.pub",
            "privateKeyFileName": name,
            "privateKeyDirectDownloadLink": link,
        },
    }


def _ports(task: Task) -> View:
    """Name the ports of a task; one called http and one called ssh are always there."""
    ports = {label: ",".join(map(str, numbers)) for label, numbers in task.ports}
    main = ports.get("main", "").partition(",")[0]
    return {"http": main, "ssh": main, **ports} if main else ports


def logs_path(job: Job, attempt: int, task: Task, run: int) -> str:
    role = role_names(job)[task.role]
    owned = f"/rest-server/api/v2/jobs/{job.owner}~{job.spec.name}"
    return f"{owned}/attempts/{attempt}/taskRoles/{role}/taskIndex/{task.index}/attempts/{run}/logs"


def task_detail(job: Job, task: Task, ways: Ways = NO_WAYS) -> View:
    """A task with all its runs in one attempt of the job; of earlier runs only the number is known."""
    state = task_state(task)
    attempts = [
        {
            "attemptId": run,
            "attemptState": state if run == task.run else "FAILED",
            **_container(
                job,
                task if run == task.run else _earlier(task),
                job.attempt,
                run,
                ways if run == task.run else NO_WAYS,
            ),
            "currentAttemptLaunchedTime": millis(task.started_at) if run == task.run else None,
            "currentAttemptCompletedTime": millis(task.finished_at) if run == task.run else None,
        }
        for run in range(task.run, -1, -1)
    ]
    return {
        "username": job.owner,
        "jobName": job.spec.name,
        "jobAttemptId": job.attempt,
        "taskRoleName": role_names(job)[task.role],
        **task_view(job, task, ways),
        "attempts": attempts,
    }


def _earlier(task: Task) -> Task:
    return replace(task, state=TaskState.EXITED, exit_code=None, detail=None, cause="")


def attempt_view(job: Job, is_latest: bool) -> View:
    """An attempt in the older shape; `job` is the job as it was in that attempt."""
    status = _status(job, is_v1=False)
    code = status["appExitCode"]
    return {
        "jobName": job.spec.name,
        "frameworkName": debug_id(job.owner, job.spec.name),
        "uid": job.attempt_id,
        "userName": job.owner,
        "state": status["state"],
        "originState": status["subState"],
        "attemptIndex": job.attempt,
        "jobStartedTime": millis(job.submitted_at),
        "attemptStartedTime": millis(job.started_at),
        "attemptCompletedTime": millis(job.finished_at),
        "exitCode": code,
        "exitPhrase": (exits.spec_of(code) or {}).get("phrase"),
        "exitType": status["appExitType"],
        "exitDiagnostics": status["appExitDiagnostics"],
        **{name: value for name, value in status.items() if name.startswith("appExit")},
        "totalGpuNumber": job.spec.resources.gpus,
        "totalTaskNumber": job.spec.n_tasks,
        "totalTaskRoleNumber": len(job.spec.roles),
        "taskRoles": detail(job)["taskRoles"],
        "isLatest": is_latest,
    }


def is_warning(kind: str, reason: str) -> bool:
    return kind in _WARNINGS and reason != ReasonCode.SUBMITTED.value


def event_view(job: Job, seq: int, kind: str, at: str, message: str, task: str, is_bad: bool) -> View:
    role, _, index = task.rpartition("-")
    return {
        "uid": str(seq),
        "frameworkName": debug_id(job.owner, job.spec.name),
        "podUid": f"{job.id}-{task}" if task else "",
        "taskroleName": role,
        "taskName": task,
        "taskIndex": int(index) if index.isdigit() else None,
        "type": "Warning" if is_bad else "Normal",
        "reason": "".join(part.capitalize() for part in kind.split("_")),
        "message": message,
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 1,
        "sourceComponent": "footplate",
        "sourceHost": None,
    }


def alert_view(
    on: str, level: str, summary: str, subject: str, since: str, job: Job | None, url: str
) -> View:
    """An alert as Prometheus' manager of alerts lists it; only those of jobs say whose they are."""
    name = "Footplate" + "".join(part.capitalize() for part in on.split("_"))
    labels = {"alertname": name, "severity": level}
    if job is None:
        labels |= {"instance": subject, "type": on}
    else:
        labels |= {"job_name": job.spec.name, "username": job.owner, "vc_name": job.spec.queue}
    known_by = ",".join(f"{label}={value}" for label, value in sorted(labels.items()))
    return {
        "labels": labels,
        "annotations": {"summary": summary},
        "startsAt": since,
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": url,
        "status": {"state": "active", "silencedBy": [], "inhibitedBy": []},
        "receivers": [],
        "fingerprint": hashlib.sha256(known_by.encode()).hexdigest()[:16],
    }
