"""Groups waiting jobs with equal needs, so that a pass tries each need once."""

from __future__ import annotations

import math
from collections.abc import Mapping

from footplate.domain.cluster import Queue
from footplate.domain.resources import Resources
from footplate.scheduler.ledger import Ledger, Room
from footplate.scheduler.pack import total_of
from footplate.scheduler.snapshot import PendingJob, Shape


class Need:
    """One need in one queue, and what this pass has found out about it.

    Room only shrinks during a pass, and a longer time limit only narrows it: what did not start
    with some limit does not start with the same or a longer one. `blocked_from_s` is the shortest
    limit known to fail, `first_waiting` the first job that did.
    """

    __slots__ = ("blocked_from_s", "borrows", "first_waiting", "queue", "queue_name", "shape", "total")

    def __init__(self, queue_name: str, queue: Queue | None, shape: Shape) -> None:
        self.queue_name = queue_name
        self.queue = queue
        self.shape = shape
        self.total: Resources = total_of(shape)
        self.borrows = False
        self.blocked_from_s = math.inf
        self.first_waiting = ""

    @property
    def nodes(self) -> tuple[str, ...]:
        return self.queue.nodes if self.queue else ()

    @property
    def engine(self) -> str:
        """The engine to which its queue is bound; empty when it is to none."""
        return self.queue.engine if self.queue else ""

    def among(self, ledger: Ledger) -> list[Room]:
        """List the rooms of the nodes that its queue may use."""
        return ledger.among(self.nodes, self.engine)


class Needs:
    """Finds the need of a job.

    Hashing a shape takes longer than all else that a pass does for a waiting job, so equal shapes
    are first recognised by being the same object; the snapshot keeps them alive meanwhile.
    """

    def __init__(self, queues: Mapping[str, Queue]) -> None:
        self._queues = queues
        self._by_value: dict[tuple[str, Shape], Need] = {}
        self._by_identity: dict[tuple[str, int], Need] = {}

    def find(self, job: PendingJob) -> Need:
        return self._by_identity.get((job.queue, id(job.shape))) or self.add(job)

    def add(self, job: PendingJob) -> Need:
        key = (job.queue, job.shape)
        need = self._by_value.get(key)
        if need is None:
            need = self._by_value[key] = Need(job.queue, self._queues.get(job.queue), job.shape)
        self._by_identity[job.queue, id(job.shape)] = need
        return need


def limit_of(job: PendingJob) -> float:
    return math.inf if job.time_limit_s is None else job.time_limit_s
