"""What a scheduling pass decides: imperatives that the control loop carries out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from footplate.domain.cluster import Placement
from footplate.domain.states import Reason
from footplate.scheduler.snapshot import PendingJob


@dataclass(frozen=True, slots=True)
class Start:
    """Start the whole gang there."""

    job_id: str
    placement: Placement
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Refuse:
    """Fail the job: it can never start on the machines there are."""

    job_id: str
    reason: Reason
    attempt: int = 0


@dataclass(frozen=True)
class Plan:
    """The outcome of one pass.

    `waiting` lists the jobs that go on waiting, first to start first, and `order` their ids. Their order,
    reasons and positions are computed when asked for: a pass over thousands of equal jobs stays cheap.
    `explain` raises KeyError for a job that does not wait. `left_out` are those that were not tried, whatever
    room there is. `wakes_at` is when the first pause of a job ends, so that somebody must plan again;
    `next_port` is where the search for ports goes on. `has_room` says of a job that comes after the pass
    whether what is left free would do for it; where it would not, another pass does not start it either.
    """

    starts: tuple[Start, ...]
    refusals: tuple[Refuse, ...]
    waiting: Callable[[], Sequence[PendingJob]]
    explain: Callable[[str], Reason]
    left_out: tuple[str, ...] = ()
    wakes_at: float | None = None
    next_port: int = 0
    has_room: Callable[[PendingJob], bool] = lambda _job: True

    @cached_property
    def order(self) -> tuple[str, ...]:
        return tuple([job.id for job in self.waiting()])

    @cached_property
    def position(self) -> Mapping[str, int]:
        return {job_id: position for position, job_id in enumerate(self.order)}
