"""Reserve nodes for the first job that does not fit, so that jobs behind it never delay it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from footplate.scheduler.ledger import Ledger, Room
from footplate.scheduler.pack import fits, pack
from footplate.scheduler.shares import is_over_by
from footplate.scheduler.snapshot import RunningJob, Shape


@dataclass(slots=True)
class Reservation:
    """Where and when a waiting job will start at the latest; `at` is None if unknown.

    `spare` holds, for every node that it will use, what it leaves over there at that time;
    `suitable` names all nodes that could take any of its tasks.
    """

    job_id: str
    shape: Shape
    at: float | None
    spare: dict[str, Room]
    suitable: frozenset[str]

    def binds(self, ends_at: float) -> bool:
        """Tell whether a job that ends at this time may use only the spare resources."""
        return not is_over_by(ends_at, self.at)


def suitable_nodes(shape: Shape, rooms: Iterable[Room]) -> frozenset[str]:
    """Name the nodes that could take a task of the gang, given their rooms as they are when empty."""
    return frozenset(room.node.name for room in rooms if any(room.holds(role, 1) for role in shape))


def reserve(
    job_id: str,
    shape: Shape,
    ledger: Ledger,
    suitable: frozenset[str],
    running: Sequence[RunningJob],
    now: float,
) -> Reservation | None:
    """Find the earliest moment at which a gang fits when running jobs end by their limits.

    Where that takes the end of jobs without a limit, choose the nodes that are closest to free.
    None when it would not fit even then: nothing of ours is in its way, so nothing is kept for it.
    """
    concerned = [job for job in running if any(task.node in suitable for task in job.placement.tasks)]
    in_time = sorted((job for job in concerned if job.ends_by is not None), key=_end)
    books = Ledger(room for room in ledger if room.node.name in suitable)
    at = None
    freed = _free_until_it_fits(shape, books, in_time)
    if freed:
        at = max(now, freed.last.ends_by or now)
        for job in in_time[freed.n_ended :]:
            if is_over_by(_end(job)[0], at):
                freed.books.give_back(job.placement)
    else:
        freed = _free_until_it_fits(shape, books, _closest_to_free_first(shape, books, concerned))
    spare = _left_over(shape, freed.books, books) if freed else None
    return None if spare is None else Reservation(job_id, shape, at, spare, suitable)


@dataclass(slots=True)
class _Freed:
    """The books after the first `n_ended` of some jobs have ended, the last of them being `last`."""

    books: Ledger
    n_ended: int
    last: RunningJob


def _free_until_it_fits(shape: Shape, books: Ledger, ending: Sequence[RunningJob]) -> _Freed | None:
    """End as few of these jobs, in their order, as the gang needs; halving frees each about once."""
    low, high = 0, len(ending)
    at_low, at_high = books, _after(books, ending)
    if not ending or not fits(shape, at_high.among()):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        trial = _after(at_low, ending[low:middle])
        if fits(shape, trial.among()):
            high, at_high = middle, trial
        else:
            low, at_low = middle, trial
    return _Freed(at_high, high, ending[high - 1])


def _after(books: Ledger, ended: Iterable[RunningJob]) -> Ledger:
    later = books.copy()
    for job in ended:
        later.give_back(job.placement)
    return later


def _left_over(shape: Shape, later: Ledger, current: Ledger) -> dict[str, Room] | None:
    """Place the gang on the books of its start, and keep what it leaves on the nodes it uses."""
    for room in later:
        # Cards that are free already are taken last, since jobs behind can use them meanwhile.
        room.last = current.rooms[room.node.name].cards
    placement = pack(shape, later.among())
    if placement is None:
        return None
    later.take(placement)
    return {task.node: later.rooms[task.node] for task in placement.tasks}


def _closest_to_free_first(shape: Shape, books: Ledger, jobs: Iterable[RunningJob]) -> list[RunningJob]:
    """Order jobs so that the nodes with the least in use are freed first, and there the biggest jobs first.

    Reserved nodes only empty, so the choice stays the same in later passes unless another node overtakes.
    """
    needs_cards = any(role.resources.gpus for role in shape)

    def in_use(room: Room) -> tuple[int, int, int]:
        cpus = room.node.milli_cpus - room.milli_cpus
        cards = (room.usable & ~room.cards).bit_count()
        return (cards, cpus, 0) if needs_cards else (cpus, room.node.memory_bytes - room.memory_bytes, cards)

    rank = {room.node.name: n for n, room in enumerate(sorted(books, key=in_use))}

    def key(job: RunningJob) -> tuple[int, int, int, str]:
        tasks = job.placement.tasks
        n_cards = sum(len(task.gpus) for task in tasks)
        milli_cpus = sum(task.resources.milli_cpus for task in tasks)
        closest = min(rank[task.node] for task in tasks if task.node in rank)
        return closest, -n_cards if needs_cards else 0, -milli_cpus, job.id

    return sorted(jobs, key=key)


def _end(job: RunningJob) -> tuple[float, str]:
    return math.inf if job.ends_by is None else job.ends_by, job.id
