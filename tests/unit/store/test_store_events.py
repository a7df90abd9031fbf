"""The event log: numbered in commit order, so that whoever resumes after a number misses nothing."""

from __future__ import annotations

import asyncio

import sqlalchemy as sa
from storebench import a_job, insert, job_id, with_store

from footplate.domain.events import (
    Edited,
    Placed,
    StopAsked,
    TaskExited,
    TasksGone,
    TaskStarted,
    WaitExplained,
)
from footplate.domain.job import Job
from footplate.domain.messages import text
from footplate.domain.states import Reason, ReasonCode
from footplate.store import event_queries
from footplate.store.rows import EventRecord, event_from, read_reason
from footplate.store.store import Store
from footplate.testing.builders import AT, job, placement

N_WRITERS = 8
N_WRITES = 25


async def _after(store: Store, seq: int, limit: int = 1000, **of: object) -> list[EventRecord]:
    def query(connection: sa.Connection) -> list[EventRecord]:
        return event_queries.after(connection, seq, limit, **of)  # type: ignore[arg-type]

    return await store.read(query)


@with_store
async def test_a_resuming_reader_sees_every_event_once_while_many_write(store: Store) -> None:
    written = asyncio.Event()

    async def write(writer: int) -> None:
        for number in range(N_WRITES):
            await a_job(store, writer * N_WRITES + number)

    async def read() -> list[EventRecord]:
        seen: list[EventRecord] = []
        while True:
            is_last_look = written.is_set()
            page = await _after(store, seen[-1].seq if seen else 0, 7)
            seen += page
            if is_last_look and not page:
                return seen

    reading = asyncio.gather(read(), read())
    await asyncio.gather(*(write(writer) for writer in range(N_WRITERS)))
    written.set()
    for seen in await reading:
        assert [event.seq for event in seen] == list(range(1, N_WRITERS * N_WRITES + 1))
        assert len({event.job_id for event in seen}) == N_WRITERS * N_WRITES


@with_store
async def test_a_jobs_life_is_told_in_order_and_read_back_as_it_was_published(store: Store) -> None:
    published: list[EventRecord] = []
    store.subscribe(lambda news: published.extend(news.events))
    one = await a_job(store, 1, queue="vision")
    busy = Reason(ReasonCode.INSUFFICIENT_RESOURCES, text("8 of 8 CPUs are in use"), {"free": 0})
    await store.apply(one.id, WaitExplained(AT, 0, busy))
    await store.apply(one.id, WaitExplained(AT, 0, busy))
    await store.apply(one.id, Edited(AT, "ann", priority=3), "ann")
    await store.apply(one.id, Placed(AT + 1, one.attempt, placement(one.spec)))
    await store.apply(one.id, TaskStarted(AT + 2, 0, "main", 0))
    await store.apply(one.id, TaskStarted(AT + 2, 0, "main", 0))
    await store.apply(one.id, TaskExited(AT + 3, 0, "main", 0, 1, text("no such file")))
    await asyncio.sleep(0)
    kinds = ["submitted", "waiting", "edited", "starting", "task_started", "running", "task_exited", "failed"]
    assert [event.kind for event in published] == kinds
    assert await _after(store, 0) == published
    assert published[2].actor == "ann"
    assert published[2].data == {"fields": ["priority"], "changes": {"priority": {"from": 0, "to": 3}}}
    assert "no such file" in published[6].message


@with_store
async def test_a_reader_sees_its_own_events_and_those_of_visible_queues(store: Store) -> None:
    await insert(
        store,
        job(job_id(1), "ann", name="a", queue="vision"),
        job(job_id(2), "bob", name="b", queue="vision"),
        job(job_id(3), "bob", name="c", queue="speech"),
    )

    async def visible(caller: str, queues: list[str] | None) -> set[str]:
        return {event.job_id for event in await _after(store, 0, caller=caller, visible_queues=queues)}

    assert await visible("ann", []) == {job_id(1)}
    assert await visible("ann", ["speech"]) == {job_id(1), job_id(3)}
    assert await visible("admin", None) == {job_id(1), job_id(2), job_id(3)}
    assert {event.job_id for event in await _after(store, 0, job_id=job_id(2))} == {job_id(2)}


@with_store
async def test_what_means_nothing_any_more_leaves_no_line(store: Store) -> None:
    one = await a_job(store)
    stop = StopAsked(AT, Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann")), "ann")
    await store.apply(one.id, stop)
    last = await store.read(event_queries.last_seq)
    await store.apply(one.id, TaskStarted(AT, 0, "main", 0))
    await store.apply_all([(one.id, stop)])
    assert await store.read(event_queries.last_seq) == last


async def _causes(store: Store, of: Job) -> dict[str, str | None]:
    """What each kind of event of a job was caused by."""
    events = await _after(store, 0)
    kinds = {event.seq: f"{event.job_id}: {event.kind}" for event in events}
    return {event.kind: event.cause and kinds[event.cause] for event in events if event.job_id == of.id}


@with_store
async def test_every_event_names_the_one_that_led_to_it(store: Store) -> None:
    one = await a_job(store, 1, retry=1)
    await store.apply(one.id, Placed(AT + 1, 0, placement(one.spec)))
    await store.apply(one.id, TaskStarted(AT + 2, 0, "main", 0))
    await store.apply(one.id, TaskExited(AT + 3, 0, "main", 0, 1))
    await store.apply(one.id, TasksGone(AT + 4, 0))
    mine = f"{one.id}: "
    assert await _causes(store, one) == {
        "submitted": None,
        "starting": mine + "submitted",
        "task_started": mine + "starting",
        "running": mine + "task_started",
        "task_exited": mine + "running",
        "stopping": mine + "task_exited",
        "requeued": mine + "stopping",
    }


@with_store
async def test_what_a_person_asks_for_has_no_cause_and_what_follows_has(store: Store) -> None:
    one = await a_job(store, 1)
    await store.apply(one.id, Placed(AT + 1, 0, placement(one.spec)))
    stop = StopAsked(AT, Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann")), "ann")
    await store.apply(one.id, stop, "ann")
    causes = await _causes(store, one)
    assert causes["stop_asked"] is None
    assert causes["stopping"] == f"{one.id}: stop_asked"


@with_store
async def test_a_start_names_the_later_of_its_own_coming_and_what_made_room(store: Store) -> None:
    one, other = await a_job(store, 1), await a_job(store, 2)
    moves = [(one.id, Placed(AT + 1, 0, placement(one.spec)))]
    early, late = store.board[one.id].moved_by, store.board[other.id].moved_by
    await store.write(lambda tx: store.apply_living(tx, moves, cause=late))
    assert (await _causes(store, one))["starting"] == f"{other.id}: submitted"
    moves = [(other.id, Placed(AT + 1, 0, placement(other.spec)))]
    await store.write(lambda tx: store.apply_living(tx, moves, cause=early))
    assert (await _causes(store, other))["starting"] == f"{other.id}: submitted"


def test_what_an_older_version_has_stored_is_still_told() -> None:
    row = {"seq": 1, "at": AT, "job_id": "a", "owner": "ann", "queue": "q", "kind": "running", "attempt": 0}
    event = event_from(
        {**row, "actor": "", "cause": None, "message": "the task runs", "data": '{"n_tasks":1}'}
    )
    assert (event.message, event.data) == ("the task runs", {"n_tasks": 1})
    reason = read_reason('["running","the task runs",{"n_tasks":1}]')
    assert (reason.message, reason.details) == ("the task runs", {"n_tasks": 1})
