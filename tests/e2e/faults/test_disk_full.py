"""A disk that fills up while jobs run: the server says so, loses nothing, and goes on when there is room."""

from __future__ import annotations

import itertools
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.store.disk import N_PIECES
from footplate.testing.checker import check
from footplate.testing.faults_evidence import leftovers, read_database
from footplate.testing.faults_users import Users
from footplate.testing.process import ServerProcess, await_that, processes_of

DISK_BYTES = 32 * 1024**2
SETTINGS = "[node]\ncpus = 4\nmemory = '4GB'\n"
# A task is told of the full disk as any program is: by the error of its own write.
# So much at once that it soon takes what the server gives up of its reserve, too.
WRITES = "while echo $(seq 5000); do sleep 0.05; done; exit 9"
SMALL = {"cpus": 0.5, "memory": "64MB", "grace": "2s"}


@pytest.fixture(params=["tmpfs", "ext4"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "footplate-test", str(folder)]
    if request.param == "ext4":
        image = tmp_path / "image"
        with image.open("wb") as out:
            out.truncate(DISK_BYTES)
        made = subprocess.run(["mkfs.ext4", "-q", image], capture_output=True, text=True, check=False)
        if made.returncode:
            pytest.skip(f"a disk to be filled cannot be made: {made.stderr.strip()}")
        words = ["mount", "-o", "loop", str(image), str(folder)]
    mounted = subprocess.run(words, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a disk to be filled cannot be mounted: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Take all room there is."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as out, suppress(OSError):
        while True:
            out.write(bytes(4096))
    return filler


def submit_until_refused(users: Users, client: httpx.Client) -> tuple[dict[str, Any], str]:
    """Submit jobs until one is refused; return it and what was said. Those answered before count."""
    for number in itertools.count():
        # Large, since a database may reuse room that it has; too many CPUs to start beside the others.
        document = {"name": f"waits-{number}", "command": "echo late", "env": {"LARGE": "x" * 30_000}}
        document |= {"cpus": 4, "memory": "64MB"}
        answer = client.post("/jobs", json=document, headers={"Idempotency-Key": f"waits-{number}"})
        if answer.status_code == 507:
            return document, answer.json()["message"]
        assert answer.status_code == 201, answer.text
        users.answered.add(answer.json()["id"])
    raise AssertionError


@pytest.mark.timeout(300)
def test_a_full_disk_is_told_and_loses_no_job_and_no_exit_code(disk: Path, tmp_path: Path) -> None:
    server = ServerProcess(disk / "home", SETTINGS)
    server.log_file = tmp_path / "server.log"
    with server, server.client() as client:
        users = Users(client)
        ends = users.submit({"name": "ends", "command": "sleep 3; exit 7", **SMALL}, "ends")
        writes = users.submit({"name": "writes", "command": WRITES, **SMALL}, "writes")
        stopped = users.submit({"name": "stopped", "command": "sleep 1000", **SMALL}, "stopped")
        for job_id in (ends, writes, stopped):
            users.await_running(job_id)
        filler = fill(disk)
        refused, said = submit_until_refused(users, client)
        assert "the server's disk is" in said
        assert client.get(f"/jobs/{ends}").status_code == 200, "reading goes on"
        await_that(lambda: not runs(server.home, "sleep", "3"), 30, "the task's command has ended")
        await_that(lambda: not runs_shell(server.home, WRITES), 60, "the task that writes was told")
        filler.unlink()
        # Their ends were noted by the tasks as soon as there was room.
        assert users.await_end(ends)["tasks"][0]["exit_code"] == 7
        assert users.await_end(writes)["tasks"][0]["exit_code"] == 9
        users.tell(stopped, "stop")
        users.submit(refused, refused["name"])
        states = {job_id: users.await_end(job_id)["state"] for job_id in users.answered}
        assert states.pop(stopped) == "STOPPED"
        assert (states.pop(ends), states.pop(writes)) == ("FAILED", "FAILED")
        assert set(states.values()) == {"SUCCEEDED"}
        assert not server.has_ended
    assert "disk is full" in server.log
    check_home(server.home, users)


# Takes whatever anybody frees, at once and for ever.
FILLS = "while true; do cat /dev/zero >> $FOOTPLATE_OUTPUT_DIR/fill || true; sleep 0.02; done 2>/dev/null"


@pytest.mark.timeout(300)
def test_the_job_that_fills_the_disk_is_stopped_and_deleted_by_somebody_who_signs_in(
    disk: Path, tmp_path: Path
) -> None:
    server = ServerProcess(disk / "home", SETTINGS)
    server.log_file = tmp_path / "server.log"
    with server, server.client() as client:
        users = Users(client)
        fills = users.submit({"name": "fills", "command": FILLS, **SMALL}, "fills")
        users.await_running(fills)
        told = await_that(lambda: disk_low(client), 30, "the health says so")
        assert "nearly full" in told
        refused = client.post("/jobs", json={"name": "more", "command": "true"})
        assert (refused.status_code, refused.json()["code"]) == (507, "disk_full")
        upload = client.post("/code", content=b"anything")
        assert upload.status_code == 507
        with server.client() as signed_in:
            stopped = signed_in.post(f"/jobs/{fills}/stop", json={})
            assert stopped.status_code < 300, client.get(f"/jobs/{fills}").text
            assert users.await_end(fills)["state"] == "STOPPED"
            gone = signed_in.delete(f"/jobs/{fills}", params={"for_good": True})
            assert gone.status_code < 300, gone.text
        await_that(lambda: client.get(f"/jobs/{fills}").status_code == 404, 30, "the job is gone")
        await_that(lambda: not disk_low(client), 30, "there is room again")
        assert users.await_end(users.submit({"name": "more", "command": "true", **SMALL}, "more"))
        reserve = disk / "home" / "reserve"
        await_that(lambda: len(list(reserve.iterdir())) == N_PIECES, 30, "the reserve is there again")


@pytest.mark.timeout(300)
def test_a_server_starts_on_a_full_disk(disk: Path, tmp_path: Path) -> None:
    server = ServerProcess(disk / "home", SETTINGS)
    server.log_file = tmp_path / "server.log"
    with server:
        pass
    fill(disk)
    with server, server.client() as client:
        assert disk_low(client)


def disk_low(client: httpx.Client) -> str:
    answer = client.get("/health").json()
    return str(answer["message"]) if answer["status"] == "disk_low" else ""


def check_home(home: Path, users: Users) -> None:
    with closing(sqlite3.connect(home / "footplate.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    answered = frozenset(users.answered)
    assert check(replace(read_database(home), answered=answered, leftovers=leftovers(home))) == []


def runs(home: Path, *words: str) -> bool:
    """Whether a task below a home folder runs these words."""
    return any(command_of(pid)[: len(words)] == words for pid in processes_of(home))


def runs_shell(home: Path, command: str) -> bool:
    """Whether a task below a home folder runs this command in a shell."""
    return any(command in command_of(pid) for pid in processes_of(home))


def command_of(pid: int) -> tuple[str, ...]:
    try:
        return tuple(Path(f"/proc/{pid}/cmdline").read_text().split("\0"))
    except OSError:
        return ()
