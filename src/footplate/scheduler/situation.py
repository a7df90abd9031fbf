"""The state within one pass: what is free, used and reserved, and what blocks a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, auto

from footplate.domain.cluster import Placement
from footplate.domain.states import Reason
from footplate.scheduler.ledger import Ledger, Room
from footplate.scheduler.needs import Need, limit_of
from footplate.scheduler.pack import fits
from footplate.scheduler.ports import NO_PORTS, PortLedger
from footplate.scheduler.reserve import Reservation, reserve, suitable_nodes
from footplate.scheduler.shares import Share, keep_from, keep_until_below_maximum, shares_of
from footplate.scheduler.snapshot import Hold, PendingJob, RunningJob, Snapshot


class Obstacle(Enum):
    """What keeps a job from starting whatever the nodes have free."""

    NO_QUEUE = auto()
    QUEUE_CLOSED = auto()
    NO_ENGINE = auto()
    ENGINE_AWAY = auto()
    OVER_MAXIMUM = auto()
    KEPT_IN_QUEUE = auto()


class Situation:
    """Changes only by starting jobs and by keeping room for waiting ones: room never grows."""

    def __init__(self, snapshot: Snapshot, now: float) -> None:
        self.now = now
        self.engines = {engine.name: engine for engine in snapshot.engines}
        self.away = {name: engine.away for name, engine in self.engines.items() if engine.away is not None}
        self.nodes = tuple(
            node for node in snapshot.nodes if node.is_schedulable and node.engine not in self.away
        )
        self.drained = tuple(node for node in snapshot.nodes if node.drained_by)
        self.queues = {queue.name: queue for queue in snapshot.queues}
        self.shares: dict[str, Share] = shares_of(snapshot)
        self.running = list(snapshot.running)
        self._reservations: list[Reservation] = []
        self._owed: list[tuple[PendingJob, Need]] = []
        self.ledger = Ledger.of(self.nodes)
        for job in self.running:
            self.ledger.take(job.placement)
        self._empty: Ledger | None = None
        self._port_room = snapshot.ports
        self._ports: PortLedger | None = None
        # Why jobs are left out of this pass, whatever room there is.
        self._left_out: dict[str, Reason] = {}

    def leave_out(self, paused: Iterable[PendingJob], holds: Iterable[Hold]) -> Mapping[str, Reason]:
        """Leave out jobs that pause, and those that something else holds."""
        self._left_out = {job.id: job.pause.reason for job in paused if job.pause is not None}
        self._left_out |= {hold.job_id: hold.reason for hold in holds}
        return dict(self._left_out)

    @property
    def leaves_out(self) -> bool:
        """Whether this pass has left any job out."""
        return bool(self._left_out)

    def left_out(self, waiting: Iterable[str]) -> tuple[str, ...]:
        """List the waiting jobs that this pass has left out."""
        return tuple([job_id for job_id in waiting if job_id in self._left_out])

    def why_left_out(self, job_id: str) -> Reason | None:
        return self._left_out.get(job_id)

    def give_ports(self, job: PendingJob, placement: Placement) -> Placement | None:
        """Give a gang its ports where it will run; without them it is left out."""
        if not job.ports or placement.is_open:
            return placement
        if self._ports is None:
            self._ports = PortLedger(self._port_room, (one.placement for one in self.running))
        placed = self._ports.give(job.ports, placement)
        if placed is None:
            self._left_out[job.id] = NO_PORTS
        return placed

    @property
    def next_port(self) -> int:
        """Where the search for ports goes on."""
        return self._port_room.begin_at if self._ports is None else self._ports.begin_at

    def obstacle(self, job: PendingJob, need: Need) -> Obstacle | None:
        """Say what in its own queue keeps a job from starting, if anything does."""
        if need.queue is None:
            return Obstacle.NO_QUEUE
        if not need.queue.is_open:
            return Obstacle.QUEUE_CLOSED
        if need.engine and need.engine not in self.engines:
            return Obstacle.NO_ENGINE
        if need.engine in self.away:
            return Obstacle.ENGINE_AWAY
        share = self.shares.get(job.queue)
        if share is None:
            return None
        if not share.has_room(need.total):
            return Obstacle.OVER_MAXIMUM
        is_first = share.kept is not None and share.kept.job_id == job.id
        if not is_first and share.is_kept_from(need.total, self.now + limit_of(job)):
            return Obstacle.KEPT_IN_QUEUE
        return None

    def is_handed_over(self, need: Need) -> bool:
        """Tell whether the engine of a queue places its jobs by itself."""
        engine = self.engines.get(need.engine)
        return engine is not None and engine.places_itself

    def has_room(self, need: Need) -> bool:
        """Tell whether what is free now would do, whatever is reserved for others."""
        return self.is_handed_over(need) or fits(need.shape, self.free_rooms(need))

    def free_rooms(self, need: Need) -> list[Room]:
        return need.among(self.ledger)

    def open_rooms(self, job: PendingJob, need: Need) -> list[Room]:
        """List what is free of the nodes that the job may use, less what is reserved for jobs ahead of it."""
        ends_at = self.now + limit_of(job)
        rooms = self.free_rooms(need)
        for ahead in self.reservations:
            if ahead.job_id != job.id and ahead.binds(ends_at):
                spare = ahead.spare
                rooms = [r.clipped(spare[r.node.name]) if r.node.name in spare else r for r in rooms]
        return rooms

    def start(self, job: PendingJob, need: Need, placement: Placement) -> None:
        """Count a job as running from now on."""
        ends_by = None if job.time_limit_s is None else self.now + job.time_limit_s
        ends_at = self.now + limit_of(job)
        self.ledger.take(placement)
        self.running.append(RunningJob(job.id, job.queue, job.priority, placement, ends_by))
        if share := self.shares.get(job.queue):
            share.take(need.total, ends_at)
        for ahead in self.reservations:
            if ahead.binds(ends_at):
                Ledger(ahead.spare.values()).take(placement)

    def keep_nodes(self, job: PendingJob, need: Need) -> None:
        """Reserve nodes for a job that found too little free, unless a job ahead waits for the same ones.

        Which nodes is worked out when somebody asks, and most often nobody does: jobs of the same need do
        not. Nothing is taken meanwhile, since whoever takes room asks first what is reserved of it.
        """
        self._owed.append((job, need))
        if self.shares:
            self._reserve_owed()

    @property
    def reservations(self) -> list[Reservation]:
        """What is reserved for jobs that wait, in their order."""
        self._reserve_owed()
        return self._reservations

    def _reserve_owed(self) -> None:
        owed, self._owed = self._owed, []
        for job, need in owed:
            self._reserve(job, need)

    def _reserve(self, job: PendingJob, need: Need) -> None:
        headed: frozenset[str] = frozenset().union(*(ahead.suitable for ahead in self._reservations))
        if len(headed) == len(self.ledger.rooms):
            return
        suitable = suitable_nodes(need.shape, self._empty_rooms(need))
        if not suitable or suitable & headed:
            return
        reservation = reserve(job.id, need.shape, self.ledger, suitable, self.running, self.now)
        if reservation is None:
            return
        self._reservations.append(reservation)
        if share := self.shares.get(job.queue):
            keep_from(share, job.id, need.total, reservation.at, self.running)

    def keep_share(self, job: PendingJob, need: Need) -> None:
        """Keep a part of the queue's maximum for a job that is over it."""
        keep_until_below_maximum(self.shares[job.queue], job.id, need.total, self.running)

    def _empty_rooms(self, need: Need) -> list[Room]:
        if self._empty is None:
            self._empty = Ledger.of(self.nodes)
        return need.among(self._empty)
