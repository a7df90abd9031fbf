"""What jobs held, and for how long: the base of every report of use.

A holding is an amount that one job held from one moment to another. What a job holds changes when it is
placed, when a kept environment gives a part back, and when it gives back the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from footplate.domain.job import Job


@dataclass(frozen=True, slots=True, order=True)
class Size:
    """What one task of an instance type has."""

    name: str
    milli_cpus: int
    memory_bytes: int
    gpus: int = 0
    gpu_type: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """An amount; cards of several types make several of them, of which the first has the rest."""

    milli_cpus: int = 0
    memory_bytes: int = 0
    gpus: int = 0
    gpu_type: str = ""
    # How many of the tasks are of which instance type; they are part of the amount.
    types: tuple[tuple[Size, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Holding:
    """What a job held of one kind of card, and with it of all else, from one moment to another."""

    job_id: str
    name: str
    owner: str
    queue: str
    tags: tuple[str, ...]
    attempt: int
    since: float
    until: float
    held: Held


def follow(before: Job, after: Job, at: float) -> tuple[Job, list[Holding]]:
    """Note when what a job holds changes; the result is the job, and what it held until now."""
    if before.placement is after.placement and before.is_handed_over == after.is_handed_over:
        return after, []
    were, are = _held_by(before), _held_by(after)
    if were == are:
        return after, []
    return replace(after, held_since=at if are else None), holdings_of(before, at)


def holdings_of(job: Job, until: float) -> list[Holding]:
    """Say what a job has held since that changed last."""
    held = _held_by(job)
    # Jobs of older versions do not say since when.
    since = job.held_since or job.started_at or until
    spec = job.spec
    return [
        Holding(
            job.id, spec.name, job.owner, spec.queue, spec.tags, job.attempt, since, max(since, until), one
        )
        for one in held
    ]


def _held_by(job: Job) -> tuple[Held, ...]:
    """What a job holds; one that waits in an engine that places by itself holds nothing."""
    if job.placement is None or job.is_handed_over:
        return ()
    tasks = job.placement.held.tasks
    roles = {role.name: role for role in job.spec.roles}
    cards: dict[str, int] = {}
    sizes: dict[Size, int] = {}
    for task in tasks:
        role, given = roles.get(task.role), task.resources
        kind = role.gpu_type if role else ""
        cards[kind] = cards.get(kind, 0) + given.gpus
        if role and role.instance_type:
            size = Size(role.instance_type, given.milli_cpus, given.memory_bytes, given.gpus, kind)
            sizes[size] = sizes.get(size, 0) + 1
    first, *others = sorted((kind, n) for kind, n in cards.items() if n) or [("", 0)]
    rest = job.placement.resources
    typed = tuple(sorted(sizes.items()))
    whole = Held(rest.milli_cpus, rest.memory_bytes, first[1], first[0], typed)
    return (whole, *(Held(gpus=n, gpu_type=kind) for kind, n in others)) if tasks else ()


@dataclass(frozen=True, slots=True)
class Used:
    """Amounts times seconds; cards by their type."""

    cpu_s: float = 0.0
    memory_byte_s: float = 0.0
    gpu_s: tuple[tuple[str, float], ...] = ()
    # How long tasks of which instance type ran, which is part of the rest.
    types: tuple[tuple[Size, float], ...] = ()

    def __add__(self, other: Used) -> Used:
        cards = dict(self.gpu_s)
        for kind, seconds in other.gpu_s:
            cards[kind] = cards.get(kind, 0.0) + seconds
        sizes = dict(self.types)
        for size, seconds in other.types:
            sizes[size] = sizes.get(size, 0.0) + seconds
        return Used(
            self.cpu_s + other.cpu_s,
            self.memory_byte_s + other.memory_byte_s,
            tuple(sorted(cards.items())),
            tuple(sorted(sizes.items())),
        )


def used(held: Held, seconds: float) -> Used:
    cards = ((held.gpu_type, held.gpus * seconds),) if held.gpus else ()
    types = tuple((size, n * seconds) for size, n in held.types)
    return Used(held.milli_cpus / 1000 * seconds, held.memory_bytes * seconds, cards, types)


@dataclass(frozen=True, slots=True)
class Account:
    """What one job used in a period."""

    job_id: str
    name: str
    owner: str
    queue: str
    tags: tuple[str, ...]
    used: Used
    cost: float = 0.0


def account(holdings: Iterable[Holding], since: float, until: float) -> list[Account]:
    """Add up by job what was held in a period."""
    accounts: dict[str, Account] = {}
    for one in holdings:
        seconds = min(one.until, until) - max(one.since, since)
        if seconds <= 0:
            continue
        more = used(one.held, seconds)
        known = accounts.get(one.job_id) or Account(
            one.job_id, one.name, one.owner, one.queue, one.tags, Used()
        )
        accounts[one.job_id] = replace(known, used=known.used + more)
    return list(accounts.values())


GROUPS = ("job", "user", "queue", "tag")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a report."""

    key: str
    n_jobs: int
    used: Used
    cost: float = 0.0


def report(accounts: Iterable[Account], by: str) -> tuple[list[Line], Line]:
    """Add accounts up; the line that used most comes first. The second result is the sum over all jobs.

    A job with several tags counts for each of them, and only once in the sum.
    """
    lines: dict[str, Line] = {}
    whole = Line("", 0, Used())
    for one in accounts:
        whole = _with(whole, one)
        for key in _keys(one, by):
            lines[key] = _with(lines.get(key) or Line(key, 0, Used()), one)
    return sorted(lines.values(), key=_most_first), whole


def _with(line: Line, one: Account) -> Line:
    return Line(line.key, line.n_jobs + 1, line.used + one.used, line.cost + one.cost)


def _keys(one: Account, by: str) -> tuple[str, ...]:
    known: Mapping[str, tuple[str, ...]] = {
        "job": (one.job_id,),
        "user": (one.owner,),
        "queue": (one.queue,),
        "tag": one.tags or ("",),
    }
    return known[by]


def _most_first(line: Line) -> tuple[float, float, str]:
    return -sum(seconds for _, seconds in line.used.gpu_s), -line.used.cpu_s, line.key
