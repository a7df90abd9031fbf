"""A storage that hangs, with a real file system that does: its own jobs wait, and nobody else notices."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.testing.hanging import HangingFolder, hanging_folder, why_none
from footplate.testing.process import ServerProcess, await_that

SILENT_AFTER_S = 2
SETTINGS = """
storage_timeout = "{timeout}s"
[node]
cpus = {cpus}
memory = "64GB"
[[storages]]
name = "away"
path = "{around}/hanging"
read_only = false
[[storages]]
name = "good"
path = "{around}/good"
"""
N_STUCK = 40
AS_EVER_S = 5

pytestmark = pytest.mark.alone


class Bench:
    """A server with two storages, of which one can be made to hang."""

    def __init__(self, server: ServerProcess, folder: HangingFolder, client: httpx.Client) -> None:
        self.server = server
        self.folder = folder
        self.client = client
        self._n_jobs = 0

    def submit(self, command: str, storage: str = "", **fields: Any) -> str:
        self._n_jobs += 1
        data = [{"path": "/data", "storage": storage, "source": "sub"}] if storage else []
        body = {"name": f"job-{self._n_jobs}", "command": command, "data": data, "cpus": 1, **fields}
        answer = self.client.post("/jobs", json={"memory": "64MB", **body})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def job(self, job_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(f"/jobs/{job_id}").json()
        return found

    def until(self, job_id: str, *states: str, within_s: float = 20) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            job = self.job(job_id)
            return job if job["state"] in states else None

        try:
            job: dict[str, Any] = await_that(look, within_s)
        except AssertionError as error:
            raise AssertionError(f"{job_id} is not {states} but {self.job(job_id)}") from error
        return job

    def until_held(self, job_id: str) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            job = self.job(job_id)
            return job if job["reason"]["code"] == "storage_silent" else None

        job: dict[str, Any] = await_that(look, 20, f"job {job_id} is held: {self.job(job_id)}")
        return job

    def run_others(self) -> None:
        """Run a job without data and one with the good storage, in the time that they always take."""
        for storage, command in (("", "true"), ("good", "cat /data/one")):
            began_at = time.monotonic()
            self.until(self.submit(command, storage), "SUCCEEDED", within_s=AS_EVER_S)
            assert time.monotonic() - began_at < AS_EVER_S


def bench(around: Path, cpus: int = 64) -> Iterator[Bench]:
    if why := why_none():
        pytest.skip(why)
    with hanging_folder(around) as folder:
        for place in (folder.content, around / "good"):
            (place / "sub").mkdir(parents=True)
            (place / "sub" / "one").write_text("1\n")
        settings = SETTINGS.format(around=around, timeout=SILENT_AFTER_S, cpus=cpus)
        with ServerProcess(around / "home", settings) as server, server.client() as client:
            (node,) = client.get("/nodes").json()["items"]
            if "files" not in node["enforced"]:
                pytest.skip(
                    f"this machine cannot give tasks a view of their own: {node['unenforced']['message']}"
                )
            yield Bench(server, folder, client)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Bench]:
    yield from bench(tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Bench]:
    yield from bench(tmp_path, cpus=2)


def n_threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def test_a_storage_that_hangs_holds_up_nobody_else(here: Bench) -> None:
    here.until(here.submit("cat /data/one", "away"), "SUCCEEDED")
    here.folder.hang()
    n_before = n_threads(here.server.pid)
    stuck = [here.submit("cat /data/one", "away") for _ in range(N_STUCK)]
    here.run_others()
    for job_id in stuck:
        reason = here.until_held(job_id)["reason"]
        assert reason["message"].startswith("storage away has not answered for ")
        assert reason["details"]["storage"] == "away"
    here.run_others()
    assert len(here.client.get("/jobs").json()["items"]) > N_STUCK
    assert here.server.command("storages").returncode == 0
    assert here.folder.n_waiting() <= 1
    # The pool's own size is the bound; none of them is stuck.
    assert n_threads(here.server.pid) <= n_before + (os.cpu_count() or 1) + 4
    assert here.client.post(f"/jobs/{stuck[0]}/stop").status_code in (200, 202)
    here.until(stuck[0], "STOPPED", within_s=AS_EVER_S)
    here.folder.answer()
    for job_id in stuck[1:]:
        assert here.until(job_id, "SUCCEEDED", "FAILED", within_s=60)["state"] == "SUCCEEDED"
    await_that(lambda: here.folder.n_waiting() == 0)


def test_jobs_of_a_hung_storage_give_back_the_room_that_others_need(small: Bench) -> None:
    small.folder.hang()
    stuck = [small.submit("true", "away") for _ in range(4)]
    small.until_held(stuck[-1])
    small.run_others()
    small.folder.answer()
    for job_id in stuck:
        small.until(job_id, "SUCCEEDED")


def test_a_job_can_be_stopped_and_deleted_while_its_storage_is_waited_for(here: Bench) -> None:
    here.folder.hang()
    first, second = here.submit("true", "away"), here.submit("true", "away")
    here.until(first, "STARTING")
    began_at = time.monotonic()
    here.client.post(f"/jobs/{first}/stop")
    here.until(first, "STOPPED", within_s=SILENT_AFTER_S)
    assert here.client.delete(f"/jobs/{second}?for_good=true").is_success
    await_that(lambda: here.client.get(f"/jobs/{second}").status_code == 404)
    assert time.monotonic() - began_at < AS_EVER_S


def test_a_server_starts_and_stops_while_a_storage_hangs(here: Bench) -> None:
    job_id = here.submit("while ! cat /data/two; do sleep 0.1; done", "away")
    here.until(job_id, "RUNNING")
    here.folder.hang()
    waits = here.submit("true", "away")
    here.until(waits, "STARTING", "QUEUED")
    began_at = time.monotonic()
    here.server.stop()
    assert here.server.has_ended
    assert time.monotonic() - began_at < 10
    here.server.start()
    here.run_others()
    here.until_held(waits)
    # A task that is stuck in the storage can be ended.
    here.client.post(f"/jobs/{job_id}/stop")
    here.until(job_id, "STOPPED", within_s=30)
    here.folder.answer()
    here.until(waits, "SUCCEEDED")
    await_that(lambda: here.folder.n_waiting() == 0)


def test_paths_on_a_hung_storage_can_be_asked_for_without_harm(here: Bench) -> None:
    """The usual thing in a lab: data is wanted where the machine has it."""
    here.folder.hang()
    good = {"path": f"{here.folder.path}/x", "storage": "good", "source": "sub"}
    stuck = here.submit("true", data=[good])
    here.run_others()
    await_that(lambda: here.job(stuck)["attempt"] >= 1, 30, "the first attempt is given up")
    (first, *_) = here.client.get(f"/jobs/{stuck}/attempts").json()["items"]
    assert f"could not be mounted within {SILENT_AFTER_S} s" in first["reason"]["message"]
    here.run_others()


def test_a_hung_storage_that_is_unmounted_is_waited_for_until_it_is_mounted_again(here: Bench) -> None:
    here.until(here.submit("cat /data/one", "away"), "SUCCEEDED")
    here.folder.hang()
    job_id = here.submit("cat /data/one", "away")
    here.until_held(job_id)
    here.folder.unmount()
    here.run_others()
    assert here.job(job_id)["state"] == "QUEUED"
    here.folder.mount()
    here.until(job_id, "SUCCEEDED")


def test_a_file_system_whose_daemon_has_died_is_waited_for(here: Bench) -> None:
    here.folder.die()
    job_id = here.submit("cat /data/one", "away")
    assert "not connected" in here.until_held(job_id)["reason"]["message"]
    here.run_others()
    here.folder.unmount()
    here.folder.mount()
    here.until(job_id, "SUCCEEDED")
