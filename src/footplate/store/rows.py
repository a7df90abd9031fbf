"""Jobs, tasks and events as rows, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from typing import Any

from footplate.domain.accounting import Held, Holding, Size
from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.image import ChosenImage
from footplate.domain.job import Job, Next, Task, fresh_tasks
from footplate.domain.jobfile import read_whole, write_whole
from footplate.domain.kinds import show_instant
from footplate.domain.messages import Message, as_json, from_json, plain_params
from footplate.domain.resources import Resources
from footplate.domain.states import JobState, Reason, ReasonCode, TaskState

Row = Mapping[str, Any]


def _plain(said: object) -> object:
    """Write a message, at whatever depth the encoder meets it."""
    if isinstance(said, Message):
        return {"code": said.code, "params": said.params}
    raise TypeError(f"{type(said).__name__} cannot be stored")


# Made once: `json.dumps` makes one for each call that wants it otherwise than by default.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)


def dumps(value: Any) -> str:
    return _ENCODER.encode(value)


@dataclass(frozen=True, slots=True)
class EventRecord:
    """One line of the event log; `seq` counts in commit order."""

    seq: int
    at: float
    job_id: str
    owner: str
    queue: str
    kind: str
    attempt: int
    actor: str
    said: Message
    facts: Mapping[str, Any] = field(default_factory=dict)
    # The number of the event that led to this one; None where somebody or the world did.
    cause: int | None = None

    @property
    def message(self) -> str:
        """What happened, in English."""
        return str(self.said)

    @property
    def data(self) -> dict[str, Any]:
        """What programs may read: the numbers and names of the sentence, and the facts beside it."""
        return {**plain_params(self.said), **self.facts}

    def row(self) -> dict[str, Any]:
        return {
            "seq": self.seq,
            "at": self.at,
            "job_id": self.job_id,
            "owner": self.owner,
            "queue": self.queue,
            "kind": self.kind,
            "attempt": self.attempt,
            "actor": self.actor,
            "message": write_said(self.said),
            "data": dumps(self.facts) if self.facts else "{}",
            "cause": self.cause,
        }

    def view(self) -> dict[str, Any]:
        """Show the record as the API does."""
        return {
            "seq": self.seq,
            "at": show_instant(self.at),
            "job_id": self.job_id,
            "kind": self.kind,
            "attempt": self.attempt,
            "actor": self.actor,
            "message": self.message,
            "message_code": self.said.code,
            "params": as_json(self.said.params),
            "data": self.data,
            "cause": self.cause,
        }


def event_from(row: Row) -> EventRecord:
    columns = {name: value for name, value in row.items() if name not in ("message", "data")}
    return EventRecord(**columns, said=read_said(row["message"]), facts=json.loads(row["data"]))


# A sentence that an older version wrote is a bare text; none of those begins like this.
_CODED = '{"code":'


def write_said(said: Message) -> str:
    return dumps(said)


def read_said(column: str) -> Message:
    return from_json(json.loads(column) if column.startswith(_CODED) else column)


def write_reason(reason: Reason) -> str:
    return dumps([reason.code, reason.said, reason.facts])


def read_reason(text: str) -> Reason:
    code, said, facts = json.loads(text)
    return Reason(ReasonCode(code), from_json(said), facts)


def write_resources(amount: Resources) -> list[int]:
    return [amount.milli_cpus, amount.memory_bytes, amount.gpus]


def write_placement(placement: Placement | None) -> str | None:
    if placement is None:
        return None
    tasks = [
        [t.role, t.index, t.node, write_resources(t.resources), t.gpus, t.ports, t.address]
        + [True] * t.is_given_back
        for t in placement.tasks
    ]
    images = [[image.name, image.reference, image.environment] for image in placement.images]
    if not images and not placement.engine:
        return dumps(tasks)
    return dumps({"tasks": tasks, "images": images, "engine": placement.engine})


def read_ports(ports: Iterable[Any]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple((label, tuple(numbers)) for label, numbers in ports)


def read_placement(text: str | None) -> Placement | None:
    if text is None:
        return None
    written = json.loads(text)
    # Without images, on the default engine, and in older versions, the tasks are all there is.
    more_of: dict[str, Any] = {} if isinstance(written, list) else written
    tasks, images = (more_of.get("tasks", written), more_of.get("images", []))
    return Placement(
        tuple(
            TaskPlacement(role, index, node, Resources(*amount), tuple(gpus), read_ports(ports), *more)
            for role, index, node, amount, gpus, ports, *more in tasks
        ),
        tuple(ChosenImage(*image) for image in images),
        more_of.get("engine", ""),
    )


def _write_next(following: Next | None) -> str | None:
    if following is None:
        return None
    return dumps([following.state, write_reason(following.reason), following.pause, following.grace_s])


def _read_next(text: str | None) -> Next | None:
    if text is None:
        return None
    # Rows of older versions have no pause, or no grace.
    state, reason, *more = json.loads(text)
    return Next(JobState(state), read_reason(reason), *more)


def state_columns(job: Job) -> dict[str, Any]:
    """The columns that change while a job lives, keyed for an update by `job_id`."""
    return {
        "job_id": job.id,
        "state": job.state.value,
        "reason": write_reason(job.reason),
        "attempt": job.attempt,
        "retries_used": job.retries_used,
        "queued_at": job.queued_at,
        "started_at": job.started_at,
        "running_at": job.running_at,
        "finished_at": job.finished_at,
        "is_deleting": job.is_deleting,
        "uses": dumps(dict(job.uses)),
        "avoids": dumps(job.avoids),
        "not_before": job.not_before,
        "n_short_lived": job.n_short_lived,
        "kept_until": job.kept_until,
        "deleted_at": job.deleted_at,
        "placement": write_placement(job.placement),
        "next": _write_next(job.next),
        "moved_by": job.moved_by,
        "held_since": job.held_since,
    }


def spec_columns(job: Job) -> dict[str, Any]:
    """The columns that follow from what was asked."""
    spec, amount = job.spec, job.spec.resources
    return {
        "name": spec.name if job.deleted_at is None else _name_in_trash(job),
        "description": spec.description,
        "queue": spec.queue,
        "priority": spec.priority,
        "shared": spec.shared,
        "retry": spec.retry,
        "n_tasks": spec.n_tasks,
        "milli_cpus": amount.milli_cpus,
        "memory_bytes": amount.memory_bytes,
        "gpus": amount.gpus,
        "tags": dumps(spec.tags),
        "spec": dumps(write_whole(spec)),
    }


def _name_in_trash(job: Job) -> str:
    """A name that no living job can have, so that the job's own name is free for others."""
    return f"{job.spec.name[:242]}:{job.id}"


def job_row(job: Job) -> dict[str, Any]:
    row = {"id": job.id, "owner": job.owner, "submitted_at": job.submitted_at}
    row |= spec_columns(job) | state_columns(job)
    del row["job_id"]
    return row


def job_from(row: Row, task_rows: Iterable[Row]) -> Job:
    """Rebuild a job; `task_rows` are those of its current attempt, in order, or none before it was placed."""
    spec = read_whole(json.loads(row["spec"]))
    tasks = tuple(task_from(task) for task in task_rows)
    if not tasks:
        tasks = fresh_tasks(spec)
    return Job(
        id=row["id"],
        owner=row["owner"],
        spec=spec,
        submitted_at=row["submitted_at"],
        queued_at=row["queued_at"],
        state=JobState(row["state"]),
        reason=read_reason(row["reason"]),
        attempt=row["attempt"],
        tasks=tasks,
        placement=read_placement(row["placement"]),
        next=_read_next(row["next"]),
        started_at=row["started_at"],
        running_at=row["running_at"],
        finished_at=row["finished_at"],
        uses=json.loads(row["uses"]),
        avoids=tuple(json.loads(row["avoids"])),
        not_before=row["not_before"],
        n_short_lived=row["n_short_lived"],
        kept_until=row["kept_until"],
        deleted_at=row["deleted_at"],
        is_deleting=bool(row["is_deleting"]),
        moved_by=row["moved_by"],
        held_since=row["held_since"],
    )


def task_row(job: Job, position: int, task: Task) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "attempt": job.attempt,
        "position": position,
        "role": task.role,
        "task_index": task.index,
        "state": task.state.value,
        "node": task.node,
        "address": task.address,
        "gpus": dumps(task.gpus),
        "ports": dumps(task.ports),
        "exit_code": task.exit_code,
        "detail": "" if task.detail is None else write_said(task.detail),
        "started_at": task.started_at,
        "finished_at": task.finished_at,
        "run": task.run,
        "cause": task.cause,
        "log_start": task.log_start,
        "n_short_lived": task.n_short_lived,
        "not_before": task.not_before,
    }


def task_from(row: Row) -> Task:
    return Task(
        role=row["role"],
        index=row["task_index"],
        state=TaskState(row["state"]),
        node=row["node"],
        address=row["address"],
        gpus=tuple(json.loads(row["gpus"])),
        ports=read_ports(json.loads(row["ports"])),
        exit_code=row["exit_code"],
        detail=read_said(row["detail"]) if row["detail"] else None,
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        run=row["run"],
        cause=row["cause"],
        log_start=row["log_start"],
        n_short_lived=row["n_short_lived"],
        not_before=row["not_before"],
    )


def attempt_row(job: Job) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "number": job.attempt,
        "state": job.state.value,
        "reason": write_reason(job.reason),
        "started_at": job.started_at,
        "running_at": job.running_at,
        "finished_at": job.finished_at,
    }


def holding_row(holding: Holding) -> dict[str, Any]:
    held = holding.held
    return {
        "job_id": holding.job_id,
        "attempt": holding.attempt,
        "since": holding.since,
        "gpu_type": held.gpu_type,
        "until": holding.until,
        "name": holding.name,
        "owner": holding.owner,
        "queue": holding.queue,
        "tags": dumps(holding.tags),
        "milli_cpus": held.milli_cpus,
        "memory_bytes": held.memory_bytes,
        "gpus": held.gpus,
        "types": dumps([[*astuple(size), n] for size, n in held.types]),
    }


def holding_from(row: Row) -> Holding:
    types = tuple((Size(*size), n) for *size, n in json.loads(row["types"]))
    held = Held(row["milli_cpus"], row["memory_bytes"], row["gpus"], row["gpu_type"], types)
    return Holding(
        job_id=row["job_id"],
        name=row["name"],
        owner=row["owner"],
        queue=row["queue"],
        tags=tuple(json.loads(row["tags"])),
        attempt=row["attempt"],
        since=row["since"],
        until=row["until"],
        held=held,
    )
