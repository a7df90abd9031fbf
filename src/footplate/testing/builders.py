"""Values with defaults, so that a test states only what it is about."""

from __future__ import annotations

from typing import Any

from footplate.domain import job as jobs
from footplate.domain.advance import advance
from footplate.domain.cluster import Placement, TaskPlacement
from footplate.domain.events import Event, Placed, TaskStarted
from footplate.domain.job import Job
from footplate.domain.jobfile import read_job
from footplate.domain.spec import JobSpec, RoleSpec

AT = 1_800_000_000.0


def spec(**fields: Any) -> JobSpec:
    """A job of one task that runs `true`, with whatever else is said."""
    document = {"name": "job", **fields}
    if "roles" not in document:
        document.setdefault("command", "true")
    return read_job(document)


def job(job_id: str = "0000000000aa", owner: str = "ann", at: float = AT, **fields: Any) -> Job:
    return jobs.submit(job_id, owner, spec(**fields), at)


def placement(of: JobSpec, node: str = "here") -> Placement:
    """A place for every task, one port and no card each."""

    def place(role: RoleSpec, index: int) -> TaskPlacement:
        return TaskPlacement(role.name, index, node, role.resources, ports=(("main", (20_000 + index,)),))

    return Placement(tuple(place(role, index) for role in of.roles for index in range(role.count)))


def after(start: Job, *events: Event) -> Job:
    """The job after some events."""
    for event in events:
        start = advance(start, event).job
    return start


def placed(of: Job | None = None, **fields: Any) -> Job:
    of = of or job(**fields)
    return after(of, Placed(AT + 1, of.attempt, placement(of.spec)))


def running(of: Job | None = None, **fields: Any) -> Job:
    starting = placed(of, **fields)
    starts = (TaskStarted(AT + 2, starting.attempt, task.role, task.index) for task in starting.tasks)
    return after(starting, *starts)
