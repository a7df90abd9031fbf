"""The snapshot: the input of a scheduling pass, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from footplate.domain.cluster import Node, Placement, Queue
from footplate.domain.resources import Resources
from footplate.domain.spec import JobSpec
from footplate.domain.states import Reason


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
class Snapshot:
    nodes: tuple[Node, ...]
    queues: tuple[Queue, ...]
    running: tuple[RunningJob, ...]
    pending: tuple[PendingJob, ...]


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
