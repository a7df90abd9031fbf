"""A database that fails at a bad moment: the writer learns what became of a commit, and goes on."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from storebench import a_job, job_id, opened, rows_of

from footplate.domain.errors import StoreUnavailable
from footplate.store import faults
from footplate.store.database import open_engine
from footplate.store.migrate import migrate
from footplate.store.store import News, Store
from footplate.testing.postgres import Postgres


@pytest.fixture
def postgres_url(postgres: Postgres, migrated_postgres: str) -> Iterator[str]:
    name = postgres.create(template=migrated_postgres)
    yield postgres.url(name)
    postgres.drop(name)


def break_next_commit(store: Store, before_it: Callable[[Any], None]) -> None:
    """Have the connection break at the next commit, after something was done with it."""
    dialect = store._engine.dialect
    commit = dialect.do_commit

    def broken(connection: Any) -> None:
        dialect.do_commit = commit  # type: ignore[method-assign]
        before_it(connection.dbapi_connection)
        connection.dbapi_connection.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    dialect.do_commit = broken  # type: ignore[method-assign]


def test_a_commit_that_happened_although_the_connection_broke_is_answered(postgres_url: str) -> None:
    async def scenario() -> None:
        with opened(postgres_url) as store:
            seen: list[News] = []
            store.subscribe(seen.append)
            break_next_commit(store, lambda connection: connection.commit())
            await a_job(store, 1)
            await asyncio.sleep(0)
            assert len(seen) == 1, "its news are told, once"
            await a_job(store, 2)
            assert set(store.board) == set(await rows_of(store)) == {job_id(1), job_id(2)}

    asyncio.run(scenario())


def test_a_commit_that_did_not_happen_is_refused_and_costs_no_more(postgres_url: str) -> None:
    async def scenario() -> None:
        with opened(postgres_url) as store:
            break_next_commit(store, lambda connection: connection.rollback())
            with pytest.raises(StoreUnavailable, match="try again"):
                await a_job(store, 1)
            assert store.board == {}
            await a_job(store, 2)
            assert set(store.board) == set(await rows_of(store)) == {job_id(2)}

    asyncio.run(scenario())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=4m", "footplate-test", str(folder)]
    mounted = subprocess.run(words, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a disk to be filled cannot be mounted: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def insert_until_refused(store: Store) -> None:
    for number in range(1, 2000):
        await a_job(store, number)


def test_a_full_disk_refuses_writes_only_until_there_is_room_again(small_disk: Path) -> None:
    url = f"sqlite:///{small_disk / 'footplate.db'}"
    engine = open_engine(url)
    migrate(engine)
    engine.dispose()

    async def scenario() -> None:
        with opened(url) as store:
            await a_job(store, 0)
            filler = small_disk / "filler"
            with filler.open("wb", buffering=0) as out, suppress(OSError):
                while True:
                    out.write(bytes(4096))
            with pytest.raises(StoreUnavailable, match="disk is full"):
                await insert_until_refused(store)
            written = len(store.board)
            filler.unlink()
            await a_job(store, 5000)
            assert len(await rows_of(store)) == len(store.board) == written + 1

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("database or disk is full", "the server's disk is full"),
        ("could not extend file: No space left on device", "the server's disk is full"),
        ("database is locked", "another process has locked"),
        ("connection refused\nis it running?", "cannot be used now: connection refused; try again"),
    ],
)
def test_what_databases_say_is_told_in_words_that_help(said: str, told: str) -> None:
    error = sa.exc.OperationalError("SELECT 1", {}, Exception(said))
    assert told in faults.translate(error).message
