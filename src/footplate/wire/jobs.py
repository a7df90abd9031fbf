"""Bodies of the REST API for jobs: summaries, details, tasks, attempts, usage."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from footplate.domain.results import ResultState
from footplate.domain.states import JobState, ReasonCode, TaskState
from footplate.wire.accounting import CostBody
from footplate.wire.body import Amount, Body, ErrorBody, Text, Told
from footplate.wire.metrics import HeadwayBody


class ReasonBody(Told):
    code: ReasonCode
    details: dict[str, Any]


class JobSummary(Body):
    """A job as a list shows it."""

    id: str
    name: str
    description: str
    owner: str
    queue: str
    state: JobState
    reason: ReasonBody
    priority: int
    is_shared: bool = Field(description="Whether everybody in the queue may look into it.")
    is_readable: bool = Field(
        description="Whether the caller may look into it; else description, tags, tasks and config are empty."
    )
    attempt: int
    retries_used: int
    retry: int
    n_tasks: int
    resources: Amount
    tags: list[str]
    submitted_at: str
    queued_at: str
    started_at: str | None
    running_at: str | None
    finished_at: str | None
    run_time_s: float | None
    position: int | None = Field(description="How many jobs are ahead, while it waits.")
    progress: HeadwayBody | None = Field(description="How far it is, where it tells steps or epochs.")
    is_deleting: bool
    kept_until: str | None = Field(description="Until when a failed environment is kept.")
    deleted_at: str | None = Field(description="Since when the job is in the trash.")


class TaskBody(Body):
    role: str
    index: int
    name: str
    state: TaskState
    node: str
    address: str
    gpus: list[int]
    ports: dict[str, list[int]]
    exit_code: int | None
    detail: Told | None = Field(description="How it ended or waits, where that is more than its state.")
    cause: str = Field(description="What ended it besides itself: oom, lost, tampered, stopped, or empty.")
    run: int = Field(description="How often the task was started again by itself.")
    started_at: str | None
    finished_at: str | None


class Allowed(Body):
    """What the caller may do with the job now."""

    stop: bool
    halt: bool
    preempt: bool
    release: bool
    edit: bool
    delete: bool
    restore: bool


class EstimateBody(Body):
    expected_at: str | None = Field(description="By usual run times; null when nobody can tell.")
    latest_at: str | None = Field(description="By time limits; null when some job ahead has none.")
    basis: Told


class WaitingBody(JobSummary):
    estimate: EstimateBody | None


class Waiting(Body):
    """Jobs that wait, first to start first."""

    items: list[WaitingBody]
    n_waiting: int = Field(description="How many wait in all, also those that the caller may not see.")


class ResultsBody(Body):
    """Where results of the job are kept that were written to its output folder."""

    storage: str
    path: str
    state: ResultState = Field(description="`delayed`: a try has failed, and the next will come.")
    is_complete: bool = Field(description="Whether the job is over and all of them are there.")
    saved_at: str | None
    n_files: int
    size_bytes: int
    n_left_out: int = Field(description="Links and other things that are no files, or have odd names.")
    error: Told | None = Field(description="Why the last try has failed.")


class JobDetail(JobSummary):
    """A job with its tasks and the configuration that can be submitted again unchanged."""

    tasks: list[TaskBody]
    config: dict[str, Any]
    can: Allowed
    estimate: EstimateBody | None = Field(description="When it is expected to start, while it waits.")
    warnings: list[Told] = Field(description="What of the configuration has no effect.")
    results: ResultsBody | None = Field(description="Null where the configuration asks for none.")


class Jobs(Body):
    items: list[JobSummary]
    next_page_token: str | None


class JobChange(Body):
    name: Text | None = Field(None, max_length=255)
    description: Text | None = Field(None, max_length=4096)
    priority: int | None = Field(None, ge=-1000, le=1000)
    shared: bool | None = Field(None, description="Whether everybody in the queue may look into it.")


class DryRun(Body):
    """What a submit would do."""

    config: dict[str, Any]
    resources: Amount = Field(description="What all its tasks get together.")
    would_start: bool
    reason: ReasonBody
    request: dict[str, Any] | None = Field(description="The engine's request, when the job would start now.")
    estimate: EstimateBody | None = Field(description="When it would start, unless that is now.")
    cost: CostBody | None = Field(description="What it would cost; null when the server has no prices.")
    warnings: list[Told] = Field(description="What of the configuration has no effect.")


class Translated(Body):
    """A job file of another system as a job document of ours."""

    dialect: str = Field(description="What it was written in: pai_v1, pai_v2, sbatch, ...")
    document: dict[str, Any]
    converted: list[Told] = Field(description="What became of its fields.")
    lost: list[Told] = Field(description="What has no effect here.")


class OriginalBody(Body):
    dialect: str
    text: str


class JobCheck(Body):
    """What became of a dry run: one of the two is null."""

    dry_run: DryRun | None
    refusal: ErrorBody | None


class UsagePoint(Body):
    at: str
    cpus: float
    memory_bytes: int
    read_bytes_s: float | None
    written_bytes_s: float | None
    received_bytes_s: float | None = Field(description="Over the network; null where it is not its own.")
    sent_bytes_s: float | None
    n_processes: int | None
    gpu_utilisation: float | None = Field(description="Mean of the task's cards, 0 to 1.")
    gpu_memory_bytes: int | None
    power_w: float | None = Field(description="Of all its cards together, in watts.")


class UsageBody(Body):
    """What one task has used over time."""

    task: str
    asked: Amount
    points: list[UsagePoint]
    advice: list[Told] = Field([], description="Once it is over: what was asked for and not used.")


class Tasks(Body):
    items: list[TaskBody]


class AttemptBody(Body):
    number: int
    state: JobState
    reason: ReasonBody
    started_at: str | None
    running_at: str | None
    finished_at: str | None
    tasks: list[TaskBody]


class Attempts(Body):
    items: list[AttemptBody]


class LogTimes(Body):
    items: list[tuple[float, int]] = Field(
        description="When the log had which size: seconds since 1970, and bytes. A line was printed by the "
        "first of these whose size is beyond its offset."
    )


class LogMatches(Body):
    items: list[int] = Field(description="Offsets at which the lines begin.")
    next_offset: int | None = Field(description="Where the search goes on; null when it reached the end.")
