"""Starting when something is away, when another server is there, and from a copy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.testing.postgres import Postgres, PostgresMissing, running_postgres
from footplate.testing.process import ServerProcess, await_that, processes_of


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A PostgreSQL that the test may stop."""
    try:
        with running_postgres() as server:
            yield server
    except PostgresMissing as missing:
        pytest.skip(str(missing))


def health(server: ServerProcess) -> httpx.Response | None:
    try:
        return httpx.get(f"{server.url}/api/v1/health", timeout=5)
    except httpx.TransportError:
        return None


def refusal(server: ServerProcess) -> dict[str, Any]:
    """What a server that has not started yet answers."""

    def told() -> dict[str, Any] | None:
        assert not server.has_ended, server.log
        answer = health(server)
        return answer.json() if answer is not None and answer.status_code == 503 else None

    found: dict[str, Any] = await_that(told, 30, "the server says that it is not ready", every_s=0.1)
    return found


def test_a_start_waits_for_its_database_and_says_so(tmp_path: Path, own_postgres: Postgres) -> None:
    url = own_postgres.url(own_postgres.create())
    own_postgres.stop()
    server = ServerProcess(tmp_path / "home", FOOTPLATE_DATABASE_URL=url)
    server.begin()
    try:
        told = refusal(server)
        assert told["code"] == "starting"
        assert "database cannot be used now" in told["message"]
        assert httpx.post(f"{server.url}/api/v1/jobs", json={}).json()["code"] == "starting"
        assert "it tries again in" in server.log
        own_postgres.start()
        server.await_answer()
        await_that(lambda: "Footplate is ready" in server.log, 10, "it says that it is ready")
    finally:
        server.stop()


def test_a_start_waits_for_a_folder_that_cannot_be_made_yet(tmp_path: Path) -> None:
    # A link to a disk that is away, as far as a start can see.
    (tmp_path / "home").symlink_to(tmp_path / "disk" / "home")
    server = ServerProcess(tmp_path / "settings", FOOTPLATE_HOME=str(tmp_path / "home"))
    server.home = tmp_path / "home"
    server.begin()
    try:
        await_that(lambda: "cannot start yet" in server.log or server.has_ended, 30, "it waits")
        assert not server.has_ended, server.log
        (tmp_path / "disk" / "home").mkdir(parents=True)
        server.await_answer()
    finally:
        server.stop()


def test_a_second_home_on_one_database_starts_no_task(tmp_path: Path, own_postgres: Postgres) -> None:
    url = own_postgres.url(own_postgres.create())
    with ServerProcess(tmp_path / "one", FOOTPLATE_DATABASE_URL=url) as one:
        with one.client() as client:
            job = {"name": "once", "command": "sleep 1000", "cpus": 0.1, "memory": "64MB"}
            assert client.post("/jobs", json=job).status_code == 201
            await_that(lambda: client.get("/jobs/once").json()["state"] == "RUNNING", 20, "it runs")
        two = ServerProcess(tmp_path / "two", FOOTPLATE_DATABASE_URL=url)
        two.begin()
        await_that(lambda: two.has_ended, 30, "the second server ends")
        assert "belongs to the home folder" in two.log
        assert "--take-over" in two.log
        assert processes_of(two.home) == []
        with one.client() as client:
            assert client.get("/jobs/once").json()["state"] == "RUNNING"
            client.delete("/jobs/once", params={"for_good": True})


def test_a_copy_of_a_home_leaves_the_originals_tasks_alone(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "one") as one:
        with one.client() as client:
            job = {"name": "once", "command": "sleep 1000", "cpus": 0.1, "memory": "64MB"}
            assert client.post("/jobs", json=job).status_code == 201
            await_that(lambda: client.get("/jobs/once").json()["state"] == "RUNNING", 20, "it runs")
        running = processes_of(one.home)
        shutil.copytree(one.home, tmp_path / "two", ignore=shutil.ignore_patterns("*.sock", "lock"))
        two = ServerProcess(tmp_path / "two")
        two.begin()
        await_that(lambda: two.has_ended, 30, "the copy's server ends")
        assert "is a copy of" in two.log
        assert processes_of(one.home) == running
        with one.client() as client:
            assert client.get("/jobs/once").json()["state"] == "RUNNING"
            client.delete("/jobs/once", params={"for_good": True})


def test_a_server_that_stands_by_takes_over_as_soon_as_the_other_one_is_killed(tmp_path: Path) -> None:
    first = ServerProcess(tmp_path / "home")
    second = ServerProcess(tmp_path / "home")
    second.log_file = tmp_path / "second.log"
    second.options = ("--standby",)
    with first:
        second.begin()
        try:
            await_that(lambda: "stands by" in second.log, 20, "the second one waits")
            assert health(second) is None
            first.kill()
            second.await_answer()
            assert "no sign of life" not in second.log
        finally:
            second.stop()


def test_a_server_that_stands_by_for_a_database_answers_and_takes_over(
    tmp_path: Path, own_postgres: Postgres
) -> None:
    url = own_postgres.url(own_postgres.create())
    first = ServerProcess(tmp_path / "one", FOOTPLATE_DATABASE_URL=url)
    second = ServerProcess(tmp_path / "two", FOOTPLATE_DATABASE_URL=url)
    second.options = ("--standby", "--take-over")
    with first:
        second.begin()
        try:
            assert "stands by" in refusal(second)["message"]
            with first.client() as client:
                assert client.get("/me").status_code == 200
            first.stop()
            second.await_answer()
        finally:
            second.stop()
