"""Running tests on a store, and events to move jobs with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from footplate.domain.job import Job
from footplate.store import job_queries, tables, transitions
from footplate.store.database import open_engine
from footplate.store.store import Store
from footplate.store.writer import Transaction
from footplate.testing.builders import AT, job

StoreTest = Callable[[Store], Awaitable[None]]


@contextmanager
def opened(database_url: str, holder: str = "test") -> Iterator[Store]:
    """A store on the running event loop."""
    store = Store(open_engine(database_url), holder, AT)
    try:
        yield store
    finally:
        store.close()


def with_store(test: StoreTest) -> Callable[[str], None]:
    """Run a coroutine with a store, once on each kind of database."""

    def run(database_url: str) -> None:
        async def scenario() -> None:
            with opened(database_url) as store:
                await test(store)

        asyncio.run(scenario())

    # Not functools.wraps: pytest would look for the arguments of the wrapped function.
    run.__name__, run.__doc__ = getattr(test, "__name__", "run"), test.__doc__
    return run


def job_id(number: int) -> str:
    return f"{number:012d}"


async def insert(store: Store, *jobs: Job) -> None:
    """Put jobs into the store, each by a write of its own."""
    writes: list[Coroutine[Any, Any, bool]] = [store.write(_inserting(one)) for one in jobs]
    assert all(await asyncio.gather(*writes))


def _inserting(one: Job) -> Callable[[Transaction], bool]:
    return lambda tx: transitions.insert(tx, one)


async def a_job(store: Store, number: int = 1, **fields: Any) -> Job:
    """Submit one job to the store."""
    fields.setdefault("name", f"job-{number}")
    new = job(job_id(number), **fields)
    await insert(store, new)
    return store.board[new.id]


async def rows_of(store: Store) -> dict[str, Job]:
    """Every job as the rows tell it."""

    def query(connection: sa.Connection) -> dict[str, Job]:
        ids = connection.scalars(sa.select(tables.jobs.c.id)).all()
        loaded = {one: transitions.load(connection, one) for one in ids}
        return {one: found for one, found in loaded.items() if found is not None}

    return await store.read(query)


async def attempts(store: Store, job_id: str) -> list[job_queries.Attempt]:
    return await store.read(lambda connection: job_queries.attempts_of(connection, job_id))


async def table_sizes(store: Store) -> dict[str, int]:
    """How many rows each table has."""

    def query(connection: sa.Connection) -> dict[str, int]:
        count = sa.func.count
        return {
            name: connection.scalar(sa.select(count()).select_from(table)) or 0
            for name, table in tables.metadata.tables.items()
        }

    return await store.read(query)
