"""Pauses before retries in the tables, on both databases: kept over restarts, gone when they are over."""

from __future__ import annotations

import asyncio
import json

import sqlalchemy as sa
from storebench import a_job, opened, rows_of, with_store

from footplate.domain.events import Placed, StopAsked, TaskExited, TaskLost, TasksGone, TaskStarted
from footplate.domain.job import Job
from footplate.domain.messages import text
from footplate.domain.pauses import Pauses
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.store import event_queries, tables
from footplate.store.store import Store
from footplate.testing.builders import AT, placement

PAUSES = Pauses(first_s=7, most_s=100)


async def lose(store: Store, one: Job, attempt: int) -> None:
    """Let the only task of an attempt be lost."""
    await store.apply(one.id, Placed(AT + 1, attempt, placement(one.spec)))
    await store.apply(one.id, TaskLost(AT + 2, attempt, "main", 0, text("vanished")))


async def pausing(store: Store) -> Job:
    """A job that pauses before its third attempt."""
    one = await a_job(store)
    for attempt in (0, 1):
        await lose(store, one, attempt)
        await store.apply(one.id, TasksGone(AT + 3, attempt, PAUSES))
    found = await store.job(one.id)
    assert found is not None
    return found


def test_a_pause_is_read_back_as_it_was(database_url: str) -> None:
    async def scenario() -> None:
        with opened(database_url) as store:
            paused = await pausing(store)
            assert (paused.not_before, paused.reason.code) == (AT + 10, ReasonCode.RETRY_LATER)
            assert await rows_of(store) == {paused.id: paused}
        with opened(database_url) as again:
            assert again.board == {paused.id: paused}

    asyncio.run(scenario())


def test_the_pause_that_a_stopping_job_has_before_it_is_not_forgotten(database_url: str) -> None:
    async def scenario() -> None:
        with opened(database_url) as store:
            paused = await pausing(store)
            await lose(store, paused, 2)
        with opened(database_url) as again:
            assert again.board[paused.id].state is JobState.STOPPING
            await again.apply(paused.id, TasksGone(AT + 30, 2, PAUSES))
            assert again.board[paused.id].not_before == AT + 30 + 14

    asyncio.run(scenario())


def test_short_lives_are_counted_over_restarts(database_url: str) -> None:
    async def crash(store: Store, one: Job, attempt: int) -> None:
        await store.apply(one.id, Placed(AT, attempt, placement(one.spec)))
        await store.apply(one.id, TaskStarted(AT, attempt, "main", 0))
        await store.apply(one.id, TaskExited(AT, attempt, "main", 0, 1))
        await store.apply(one.id, TasksGone(AT, attempt, PAUSES))

    async def scenario() -> None:
        with opened(database_url) as store:
            one = await a_job(store, retry=9)
            for attempt in (0, 1):
                await crash(store, one, attempt)
        with opened(database_url) as again:
            assert (again.board[one.id].n_short_lived, again.board[one.id].not_before) == (2, None)
            await crash(again, one, 2)
            assert again.board[one.id].not_before == AT + 7

    asyncio.run(scenario())


def test_a_job_that_an_older_version_left_stopping_does_not_pause(database_url: str) -> None:
    async def scenario() -> None:
        with opened(database_url) as store:
            paused = await pausing(store)
            await lose(store, paused, 2)

            def forget(connection: sa.Connection) -> None:
                written = connection.scalar(sa.select(tables.jobs.c.next))
                older = json.dumps(json.loads(written)[:2])
                connection.execute(sa.update(tables.jobs).values(next=older))

            await store.write(lambda tx: forget(tx.connection))
        with opened(database_url) as again:
            await again.apply(paused.id, TasksGone(AT + 30, 2, PAUSES))
            kept = again.board[paused.id]
            assert (kept.state, kept.not_before) == (JobState.QUEUED, None)

    asyncio.run(scenario())


@with_store
async def test_a_placed_or_stopped_job_keeps_no_pause_in_its_row(store: Store) -> None:
    paused = await pausing(store)
    await store.apply(paused.id, Placed(AT + 10, paused.attempt, placement(paused.spec)))
    assert [one.not_before for one in (await rows_of(store)).values()] == [None]
    reason = Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann"))
    await store.apply(paused.id, StopAsked(AT + 11, reason, "ann"))
    assert [one.not_before for one in (await rows_of(store)).values()] == [None]


@with_store
async def test_the_event_log_says_until_when_a_job_pauses(store: Store) -> None:
    paused = await pausing(store)
    lines = await store.read(lambda connection: event_queries.after(connection, 0, 100))
    (told,) = [line for line in lines if line.data.get("reason") == ReasonCode.RETRY_LATER]
    assert (told.kind, told.attempt, told.message) == ("requeued", 1, paused.reason.message)
    assert told.data["pause_s"] == 7
