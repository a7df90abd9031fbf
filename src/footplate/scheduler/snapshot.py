"""The snapshot: the input of a scheduling pass, as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from footplate.domain.cluster import EngineState, Node, Placement, Queue
from footplate.domain.job import Job
from footplate.domain.resources import Resources
from footplate.domain.spec import JobSpec
from footplate.domain.states import Reason
from footplate.scheduler.ports import PortNeeds, PortRoom, port_needs


@dataclass(frozen=True, slots=True)
class RoleShape:
    """Equal tasks that must all be placed."""

    role: str
    count: int
    resources: Resources
    gpu_type: str = ""
    avoids: tuple[str, ...] = ()


Shape = tuple[RoleShape, ...]


@dataclass(frozen=True, slots=True)
class Pause:
    """A time in which a job is not to be tried, and why."""

    since: float
    until: float
    reason: Reason

    def holds(self, now: float) -> bool:
        """Tell whether it goes on; a clock that was set back to before its beginning ends it."""
        return self.since <= now < self.until


@dataclass(frozen=True, slots=True)
class PendingJob:
    """A job that waits. Jobs of equal `shape` and queue need equal room.

    `rank` puts those that want the same in order: priority, then age, then id. It is worked out once, since
    every pass sorts all jobs by it.
    """

    id: str
    owner: str
    queue: str
    priority: int
    queued_at: float
    shape: Shape
    time_limit_s: float | None = None
    pause: Pause | None = None
    attempt: int = 0
    ports: PortNeeds = field(default_factory=dict, hash=False)
    rank: tuple[int, float, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rank", (-self.priority, self.queued_at, self.id))

    def pauses(self, now: float) -> bool:
        return self.pause is not None and self.pause.holds(now)


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that holds resources; `ends_by` is the latest moment it gives them back, None when unbounded."""

    id: str
    queue: str
    priority: int
    placement: Placement
    ends_by: float | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """A job that would only hold room if it were started now, and why."""

    job_id: str
    reason: Reason


class Pending(Protocol):
    """Jobs that wait, in whatever order."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[PendingJob]: ...


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a pass looks at; without `engines`, those of all nodes are there.

    `pending` may be a `Line`, in which equal jobs stand together already.
    """

    nodes: tuple[Node, ...]
    queues: tuple[Queue, ...]
    running: tuple[RunningJob, ...]
    pending: Pending
    holds: tuple[Hold, ...] = ()
    ports: PortRoom = field(default_factory=PortRoom)
    engines: tuple[EngineState, ...] = ()


def pending_of(job: Job) -> PendingJob:
    """See a job that waits as the scheduler does."""
    spec = job.spec
    return PendingJob(
        id=job.id,
        owner=job.owner,
        queue=spec.queue,
        priority=spec.priority,
        queued_at=job.queued_at,
        shape=shape_of(spec),
        time_limit_s=None if spec.time_limit_s is None else spec.time_limit_s + spec.grace_s,
        pause=None if job.not_before is None else Pause(job.queued_at, job.not_before, job.reason),
        attempt=job.attempt,
        ports=port_needs(spec),
    )


def running_of(job: Job) -> RunningJob:
    """See a job that holds resources as the scheduler does."""
    spec = job.spec
    assert job.placement is not None
    since = job.running_at or job.started_at or job.queued_at
    if job.kept_until is not None:
        ends_by: float | None = job.kept_until + spec.grace_s
    elif job.is_handed_over or spec.time_limit_s is None:
        # Nobody here knows when a job starts that waits elsewhere.
        ends_by = None
    else:
        ends_by = since + spec.time_limit_s + spec.grace_s
    return RunningJob(job.id, spec.queue, spec.priority, job.placement.held, ends_by)


def shape_of(spec: JobSpec, avoids: tuple[str, ...] = ()) -> Shape:
    """Say what room a job needs; equal needs yield one and the same object, which a pass then hashes once.

    `avoids` names nodes on which it failed and does not want to run again.
    """
    return _one_object(
        tuple(RoleShape(role.name, role.count, role.resources, role.gpu_type, avoids) for role in spec.roles)
    )


@lru_cache(maxsize=4096)
def _one_object(shape: Shape) -> Shape:
    return shape
