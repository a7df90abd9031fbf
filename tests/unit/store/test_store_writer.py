"""The writer: callers share commits, a fault hits its own caller only, a replaced server is refused."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest
import sqlalchemy as sa
from storebench import a_job, insert, job_id, opened, rows_of, table_sizes, with_store

from footplate.domain.errors import Conflict, NotFound, StaleLease, StoreUnavailable
from footplate.domain.events import Edited
from footplate.domain.job import Job
from footplate.store import queue_queries, transitions
from footplate.store.store import News, Store
from footplate.store.writer import Transaction
from footplate.testing.builders import AT, job
from footplate.testing.postgres import Postgres


class Commits:
    """Counts what reaches the database."""

    def __init__(self, store: Store) -> None:
        self.n = 0
        sa.event.listen(store._engine, "commit", self._count)

    def _count(self, _connection: sa.Connection) -> None:
        self.n += 1


async def held_up(store: Store, writes: Callable[[], Awaitable[None]]) -> None:
    """Start writes while the writer is busy, so that they all wait when it comes round."""
    go_on, busy = threading.Event(), threading.Event()

    def hold(_tx: Transaction) -> None:
        busy.set()
        assert go_on.wait(10)

    holding = asyncio.ensure_future(store.write(hold))
    await asyncio.to_thread(busy.wait, 10)
    writing = asyncio.ensure_future(writes())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(holding, writing)


@with_store
async def test_many_concurrent_writes_share_few_commits(store: Store) -> None:
    commits = Commits(store)
    await held_up(store, lambda: insert(store, *(job(job_id(n), name=f"job-{n}") for n in range(200))))
    assert len(await rows_of(store)) == 200
    assert commits.n == 2


@with_store
async def test_a_failing_write_in_a_group_fails_alone(store: Store) -> None:
    def fail(_tx: Transaction) -> None:
        raise Conflict("not this one")

    results: list[object] = []

    async def writes() -> None:
        before, after = ([a_job(store, n) for n in numbers] for numbers in (range(5), range(5, 10)))
        results.extend(await asyncio.gather(*before, store.write(fail), *after, return_exceptions=True))

    await held_up(store, writes)
    assert [type(result) for result in results] == [Job] * 5 + [Conflict] + [Job] * 5
    assert set(store.board) == {job_id(n) for n in range(10)}
    assert set(await rows_of(store)) == set(store.board)


@with_store
async def test_a_write_that_the_database_refuses_fails_alone(store: Store) -> None:
    await a_job(store, 1, name="taken")
    await a_job(store, 2, name="other")
    results: list[object] = []

    async def writes() -> None:
        # Past the check for taken names, the unique key still stands.
        rename = store.apply(job_id(2), Edited(AT, "ann", name="taken"))
        results.extend(await asyncio.gather(a_job(store, 3), rename, a_job(store, 4), return_exceptions=True))

    await held_up(store, writes)
    assert isinstance(results[1], sa.exc.IntegrityError)
    assert {one.spec.name for one in (await rows_of(store)).values()} == {"taken", "other", "job-3", "job-4"}
    assert store.board == await rows_of(store)


@with_store
async def test_a_failing_write_leaves_no_hole_in_the_numbers_of_events(store: Store) -> None:
    def fail_late(tx: Transaction) -> None:
        transitions.insert(tx, job(job_id(9), name="lost"))
        raise Conflict("too late")

    seen: list[News] = []
    store.subscribe(seen.append)
    await a_job(store, 1)
    with pytest.raises(Conflict):
        await store.write(fail_late)
    await a_job(store, 2)
    await asyncio.sleep(0)
    assert [event.seq for news in seen for event in news.events] == [1, 2]


@with_store
async def test_a_caller_that_gives_up_while_waiting_changes_nothing(store: Store) -> None:
    async def writes() -> None:
        given_up = asyncio.ensure_future(a_job(store, 1))
        await asyncio.sleep(0)
        given_up.cancel()
        await a_job(store, 2)
        with pytest.raises(asyncio.CancelledError):
            await given_up

    await held_up(store, writes)
    assert set(await rows_of(store)) == {job_id(2)} == set(store.board)


@with_store
async def test_a_write_is_seen_by_the_next_read_and_on_the_board(store: Store) -> None:
    new = await a_job(store)
    assert store.board[new.id] == new == (await rows_of(store))[new.id]


@with_store
async def test_news_of_a_commit_comes_once_and_in_order(store: Store) -> None:
    seen: list[News] = []
    unsubscribe = store.subscribe(seen.append)
    await insert(store, *(job(job_id(n), name=f"job-{n}") for n in range(50)))
    await asyncio.sleep(0)
    numbers = [event.seq for news in seen for event in news.events]
    assert numbers == list(range(1, 51))
    unsubscribe()
    await a_job(store, 99)
    await asyncio.sleep(0)
    assert sum(len(news.events) for news in seen) == 50


@with_store
async def test_a_failing_subscriber_does_not_keep_news_from_others(store: Store) -> None:
    seen: list[News] = []

    def fail(_news: News) -> None:
        raise RuntimeError("a subscriber's own fault")

    store.subscribe(fail)
    store.subscribe(seen.append)
    await a_job(store)
    await asyncio.sleep(0)
    assert len(seen) == 1


@with_store
async def test_moving_an_unknown_job_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.apply(job_id(404), Edited(AT, "ann", name="x"))


def test_a_server_that_was_replaced_can_change_nothing(database_url: str) -> None:
    async def scenario() -> None:
        with opened(database_url, "first") as first:
            await a_job(first, 1)
            with opened(database_url, "second") as second:
                before = await table_sizes(second)
                with pytest.raises(StaleLease):
                    await a_job(first, 2)
                with pytest.raises(StaleLease):
                    await first.write(lambda tx: queue_queries.open_node(tx.connection, "a", False))
                assert await table_sizes(second) == before
                assert set(first.board) == {job_id(1)}
                await a_job(second, 3)
                assert set(await rows_of(second)) == {job_id(1), job_id(3)}

    asyncio.run(scenario())


def test_every_write_of_a_waiting_group_is_refused_after_a_takeover(database_url: str) -> None:
    async def scenario() -> None:
        with opened(database_url, "first") as first, opened(database_url, "second") as second:
            work = [a_job(first, number) for number in range(20)]
            results = await asyncio.gather(*work, return_exceptions=True)
            assert {type(result) for result in results} == {StaleLease}
            assert await rows_of(second) == {}

    asyncio.run(scenario())


def test_the_successor_numbers_events_on_from_where_its_predecessor_ended(database_url: str) -> None:
    async def scenario() -> None:
        with opened(database_url) as first:
            await a_job(first, 1)
        with opened(database_url) as second:
            seen: list[News] = []
            second.subscribe(seen.append)
            await a_job(second, 2)
            await asyncio.sleep(0)
            assert [event.seq for news in seen for event in news.events] == [2]

    asyncio.run(scenario())


def test_a_lost_connection_to_postgresql_costs_one_write_and_no_more(
    postgres: Postgres, migrated_postgres: str
) -> None:
    name = postgres.create(template=migrated_postgres)

    async def scenario() -> None:
        with opened(postgres.url(name)) as store:
            await a_job(store, 1)
            postgres.disconnect(name)
            with pytest.raises(StoreUnavailable, match="database cannot be used now"):
                await a_job(store, 2)
            await a_job(store, 3)
            assert store.board == await rows_of(store)

    asyncio.run(scenario())
    postgres.drop(name)
