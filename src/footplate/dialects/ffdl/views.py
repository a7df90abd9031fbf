"""Jobs as FfDL and Prophecis show them: models with a training, in their states and their forms of time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from footplate.domain.job import Job
from footplate.domain.states import JobState, ReasonCode

FFDL, PROPHECIS = "ffdl", "prophecis"
PREFIX = "training-"
PREFIXES = {FFDL: "/v1/models/", PROPHECIS: "/di/v1/models/"}
_SERVERS = ("ps",)

STATES: Mapping[str, Mapping[JobState, str]] = {
    FFDL: {
        JobState.QUEUED: "QUEUED",
        JobState.STARTING: "DOWNLOADING",
        JobState.RUNNING: "PROCESSING",
        JobState.STOPPING: "STORING",
        JobState.SUCCEEDED: "COMPLETED",
        JobState.FAILED: "FAILED",
        JobState.STOPPED: "HALTED",
    },
    # Its command waits for COMPLETED or FAILED, and for nothing else.
    PROPHECIS: {
        JobState.QUEUED: "QUEUED",
        JobState.STARTING: "PENDING",
        JobState.RUNNING: "RUNNING",
        JobState.STOPPING: "RUNNING",
        JobState.SUCCEEDED: "COMPLETED",
        JobState.FAILED: "FAILED",
        JobState.STOPPED: "FAILED",
    },
}
_ERRORS = {
    ReasonCode.OUT_OF_MEMORY: "C104",
    ReasonCode.TASK_FAILED: "C201",
    ReasonCode.TASK_LOST: "S200",
    ReasonCode.LAUNCH_FAILED: "S101",
    ReasonCode.NEVER_FITS: "S100",
    ReasonCode.HALTED: "0",
}


def model_id(job_id: str) -> str:
    return PREFIX + job_id


def job_id(given: str) -> str:
    """The id of our job; anything else is looked for as it is."""
    return given.removeprefix(PREFIX)


def moment(at: float | None, dialect: str) -> str:
    """Go's own text of a time for FfDL's command, milliseconds for that of Prophecis."""
    if at is None:
        return ""
    if dialect == PROPHECIS:
        return str(int(at * 1000))
    fraction = f"{at % 1:.3f}"[1:].rstrip("0").rstrip(".")
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}{fraction} +0000 UTC"


def model(job: Job, dialect: str, manifest: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A job as the dialect shows it; with its manifest also what only that says."""
    role = next((one for one in job.spec.roles if one.name not in _SERVERS), job.spec.roles[0])
    name, _, version = job.spec.image.rpartition(":")
    given = manifest or {}
    stores = _stores(given)
    shown: dict[str, Any] = {
        "model_id": model_id(job.id),
        "location": PREFIXES[dialect] + model_id(job.id),
        "name": str(given.get("name") or job.spec.name),
        "description": job.spec.description,
        "framework": {"name": name or version or "", "version": version if name else ""},
        "training": {
            "command": role.command,
            "cpus": role.milli_cpus / 1000,
            "gpus": role.gpus,
            "memory": round(role.memory_bytes / 1000**2, 3),
            "memory_unit": "MB",
            "learners": sum(one.count for one in job.spec.roles if one.name not in _SERVERS),
            "input_data": [one["data_store_id"] for one in stores if one["data_store_id"].endswith("-input")],
            "output_data": [
                one["data_store_id"] for one in stores if one["data_store_id"].endswith("-output")
            ],
            "training_status": _status(job, dialect),
        },
        "data_stores": stores,
        "metrics": [],
    }
    return {**shown, **_of_prophecis(job, given)} if dialect == PROPHECIS else shown


def _status(job: Job, dialect: str) -> dict[str, Any]:
    state = STATES[dialect][job.state]
    is_bad = job.state in (JobState.FAILED, JobState.STOPPED)
    return {
        "status": state,
        "status_description": state,
        "status_message": job.reason.message if is_bad else "",
        "error_code": _ERRORS.get(job.reason.code, "000") if is_bad else "",
        "submitted": moment(job.submitted_at, dialect),
        "completed": moment(job.finished_at, dialect),
    }


def _stores(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    stores = manifest.get("data_stores")
    if not isinstance(stores, list) or not stores or not isinstance(stores[0], Mapping):
        return []
    store, made = stores[0], []
    parts = (("training_data", "input"), ("training_results", "output"), ("training_workspace", "work"))
    for field, suffix in parts:
        part = store.get(field)
        if isinstance(part, Mapping):
            connection = store.get("connection")
            told = dict(connection) if isinstance(connection, Mapping) else {}
            made.append(
                {
                    "data_store_id": f"{store.get('id', '')}-{suffix}",
                    "type": str(store.get("type", "")),
                    "connection": {**told, "bucket": str(part.get("container", ""))},
                }
            )
    return made


def _of_prophecis(job: Job, manifest: Mapping[str, Any]) -> dict[str, Any]:
    server = next((one for one in job.spec.roles if one.name in _SERVERS), None)
    return {
        "job_namespace": job.spec.queue,
        "user_id": job.owner,
        "submission_timestamp": moment(job.submitted_at, PROPHECIS),
        "completed_timestamp": moment(job.finished_at, PROPHECIS),
        "JobType": str(manifest.get("job_type") or ("dist-tf" if server else "Local")),
        "JobAlert": "",
        "pss": str(server.count) if server else "",
        "ps_cpu": str(server.milli_cpus / 1000) if server else "",
        "ps_image": server.image if server else "",
        "ps_memory": str(server.memory_bytes // 1024**3) if server else "",
        "fileName": "",
        "filePath": "",
        "expName": "",
        "expRunId": "",
    }
