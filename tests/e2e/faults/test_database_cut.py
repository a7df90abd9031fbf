"""A database that goes away and comes back costs nobody a job."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.testing.faults_database import Cuts, Locks
from footplate.testing.faults_run import KILLS, SEED, Run, go_through
from footplate.testing.faults_users import Users
from footplate.testing.postgres import Postgres, PostgresMissing, running_postgres
from footplate.testing.process import ServerProcess

SETTINGS = "retry_pause = '1s'\nretry_pause_most = '1s'\n[node]\ncpus = 16\nmemory = '64GB'\n"
N_CUTS = max(2, KILLS // 50)


@pytest.fixture
def durable_postgres() -> Iterator[Postgres]:
    """A server of its own: what it has acknowledged survives its crash."""
    try:
        with running_postgres(synchronous_commit="on", full_page_writes="on") as server:
            yield server
    except PostgresMissing as missing:
        pytest.skip(str(missing))


@pytest.mark.timeout(300 + 10 * KILLS)
def test_postgresql_that_stops_and_starts_again_loses_no_answered_job(
    durable_postgres: Postgres, tmp_path: Path
) -> None:
    url = durable_postgres.url(durable_postgres.create())
    settings = f'database_url = "{url}"\n{SETTINGS}'
    with ServerProcess(tmp_path / "home", settings) as server, server.client() as client:
        cuts = Cuts(durable_postgres, random.Random(SEED))
        run = Run(server, Users(client), cuts, SEED, database_url=url, has_limits=False)
        pid = server.pid
        go_through(run, N_CUTS)
        assert server.pid == pid, "the server has come through by itself"


@pytest.mark.timeout(300 + 10 * KILLS)
def test_sqlite_that_somebody_has_locked_for_a_while_loses_no_answered_job(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "home", SETTINGS) as server, server.client() as client:
        locks = Locks(server.home, random.Random(SEED))
        go_through(Run(server, Users(client), locks, SEED, has_limits=False), N_CUTS)
