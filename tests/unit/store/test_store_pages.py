"""Pages by key: every job exactly once, whatever the order, the filter, and the newcomers meanwhile."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from storebench import a_job, insert, job_id, with_store

from footplate.domain.events import Refused, StopAsked
from footplate.domain.job import Job
from footplate.domain.listing import JobLine, line_of
from footplate.domain.messages import text
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.store import job_queries
from footplate.store.job_queries import SORTS, Filter
from footplate.store.store import Store
from footplate.testing.builders import AT, job

ORDERS = [f"{sign}{sort}" for sort in SORTS for sign in ("", "-")]
N_JOBS = 60


def _some_jobs() -> list[Job]:
    chance = random.Random(1)
    return [
        job(
            job_id(1000 + number),
            chance.choice(("ann", "bob", "cleo")),
            AT + number,
            name=f"job-{chance.randrange(10**6):06d}",
            description=chance.choice(("", "a 100% _wild_ \\ guess", "第一个")),
            queue=chance.choice(("default", "vision", "speech")),
            priority=chance.randrange(-2, 3),
            tags=chance.sample(["a", "ab", "50%", 'q"q', "x_y", "ü"], 2),
        )
        for number in range(N_JOBS)
    ]


async def _filled(store: Store) -> dict[str, JobLine]:
    jobs = _some_jobs()
    await insert(store, *jobs)
    for number, one in enumerate(jobs):
        if number % 3 == 0:
            never = Reason(ReasonCode.NEVER_FITS, text("never"))
            await store.apply(one.id, Refused(AT + 100 + number % 5, 0, never))
        elif number % 7 == 0:
            await store.apply(one.id, StopAsked(AT + 100, Reason(ReasonCode.STOPPED_BY_USER, text("by ann"))))
    lines: dict[str, JobLine] = {}
    for one in jobs:
        now = await store.job(one.id)
        assert now is not None
        lines[one.id] = line_of(now)
    return lines


async def _all_pages(store: Store, wanted: Filter, sort: str, limit: int) -> list[JobLine]:
    found: list[JobLine] = []
    after: tuple[Any, str] | None = None
    while True:
        lines, after = await _page(store, wanted, sort, after, limit)
        assert len(lines) <= limit
        found += lines
        if after is None:
            return found


async def _page(
    store: Store, wanted: Filter, sort: str, after: tuple[Any, str] | None, limit: int
) -> tuple[list[JobLine], tuple[Any, str] | None]:
    def query(connection: sa.Connection) -> tuple[list[JobLine], tuple[Any, str] | None]:
        return job_queries.page(connection, wanted, sort, after, limit)

    return await store.read(query)


@with_store
async def test_every_order_lists_every_job_exactly_once(store: Store) -> None:
    lines = await _filled(store)
    for sort in ORDERS:
        for limit in (1, 7, N_JOBS, N_JOBS + 1):
            found = await _all_pages(store, Filter("admin"), sort, limit)
            assert len(found) == N_JOBS, sort
            assert {line.id: line for line in found} == lines
            assert [line.id for line in found] == _sorted(lines.values(), sort), sort


def _sorted(lines: Sequence[JobLine] | Any, sort: str) -> list[str]:
    def key(line: JobLine) -> tuple[Any, str]:
        field = sort.removeprefix("-")
        if field == "submitted_at":
            return "", line.id
        if field == "finished_at":
            return (line.finished_at if line.finished_at is not None else float("inf")), line.id
        if field == "run_time":
            return _run_time(line), line.id
        if field == "resources":
            return (line.gpus, line.milli_cpus), line.id
        return getattr(line, field), line.id

    return [line.id for line in sorted(lines, key=key, reverse=sort.startswith("-"))]


def _run_time(line: JobLine) -> tuple[int, float]:
    """Those that have not begun, then those that have ended, then those that run, the youngest first."""
    since = line.started_at if line.running_at is None else line.running_at
    if since is None:
        return 0, 0.0
    return (2, -since) if line.finished_at is None else (1, line.finished_at - since)


@with_store
async def test_pages_stay_whole_while_jobs_are_submitted(store: Store) -> None:
    lines = await _filled(store)
    for number, sort in enumerate(ORDERS):
        found: list[JobLine] = []
        after: tuple[Any, str] | None = None
        while True:
            page, after = await _page(store, Filter("admin"), sort, after, 9)
            found += page
            if after is None:
                break
            newcomer = 5000 + number * 100 + len(found)
            await a_job(store, newcomer, at=AT + newcomer, owner="dora", queue="other")
        seen = [line.id for line in found]
        assert len(seen) == len(set(seen)), sort
        assert set(lines) <= set(seen), sort


FILTERS: dict[str, tuple[Filter, Any]] = {
    "one queue": (Filter("admin", queues=["vision"]), lambda line: line.queue == "vision"),
    "two queues": (
        Filter("admin", queues=["vision", "speech"]),
        lambda line: line.queue in ("vision", "speech"),
    ),
    "one owner": (Filter("admin", owners=["bob"]), lambda line: line.owner == "bob"),
    "states": (
        Filter("admin", states=[JobState.FAILED, JobState.STOPPED]),
        lambda line: line.state in (JobState.FAILED, JobState.STOPPED),
    ),
    "a queue and a state": (
        Filter("admin", queues=["vision"], states=[JobState.QUEUED]),
        lambda line: line.queue == "vision" and line.state is JobState.QUEUED,
    ),
    "part of a name": (Filter("admin", search="JOB-1"), lambda line: "job-1" in line.name),
    "a wildcard taken literally": (Filter("admin", search="0% _w"), lambda line: "100%" in line.description),
    "a backslash taken literally": (Filter("admin", search="\\ g"), lambda line: "\\" in line.description),
    "other letters": (Filter("admin", search="一"), lambda line: "一" in line.description),
    "an id": (Filter("admin", search=job_id(1005)), lambda line: line.id == job_id(1005)),
    "nothing such": (Filter("admin", search="nothing such"), lambda _line: False),
    "a tag, not a part of one": (Filter("admin", tag="a"), lambda line: "a" in line.tags),
    "a tag with a wildcard": (Filter("admin", tag="50%"), lambda line: "50%" in line.tags),
    "a tag with a quote": (Filter("admin", tag='q"q'), lambda line: 'q"q' in line.tags),
    "a tag beyond ASCII": (Filter("admin", tag="ü"), lambda line: "ü" in line.tags),
    "own and visible ones": (
        Filter("ann", visible_queues=["speech"]),
        lambda line: line.owner == "ann" or line.queue == "speech",
    ),
    "own ones only": (Filter("ann", visible_queues=[]), lambda line: line.owner == "ann"),
    "visible, yet filtered": (
        Filter("ann", visible_queues=["speech"], owners=["bob"]),
        lambda line: line.owner == "bob" and line.queue == "speech",
    ),
}


@with_store
async def test_every_filter_lists_what_it_says_in_every_order(store: Store) -> None:
    lines = await _filled(store)
    for name, (wanted, holds) in FILTERS.items():
        expected = {line.id for line in lines.values() if holds(line)}
        for sort in ("-submitted_at", "name", "-finished_at", "priority"):
            found = [line.id for line in await _all_pages(store, wanted, sort, 4)]
            assert len(found) == len(set(found)), name
            assert set(found) == expected, name


@with_store
async def test_ended_jobs_are_counted_by_state_since_a_moment(store: Store) -> None:
    lines = await _filled(store)
    since = AT + 102
    counted = await store.read(
        lambda connection: job_queries.finished_since(connection, since, Filter("ann", ["vision"]))
    )
    expected: dict[str, int] = {}
    for line in lines.values():
        is_visible = line.owner == "ann" or line.queue == "vision"
        if is_visible and line.finished_at is not None and line.finished_at >= since:
            expected[line.state.value] = expected.get(line.state.value, 0) + 1
    assert counted == expected
    assert expected


@with_store
async def test_names_that_begin_alike_are_found_for_one_owner(store: Store) -> None:
    for number, name in enumerate(("run", "run-2", "runs", "r_n", "run-3")):
        await a_job(store, number, name=name)
    await a_job(store, 9, owner="bob", name="run-4")

    async def names(stem: str) -> set[str]:
        return await store.read(lambda connection: job_queries.names_like(connection, "ann", stem))

    assert await names("run") == {"run", "run-2", "runs", "run-3"}
    assert await names("r_") == {"r_n"}
