"""A backup of a server that is busy, by the real command, and the server that is made from it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.testing.postgres import Postgres
from footplate.testing.process import FOOTPLATE, PASSWORD, ServerProcess, await_that, processes_of

SETTINGS = 'retry_pause = 0\n[node]\ncpus = 4\nmemory = "8GB"\n'


def states(server: ServerProcess) -> dict[str, str]:
    done = server.command("list", "--json", "--all")
    assert done.returncode == 0, done.stderr
    return {job["name"]: job["state"] for job in json.loads(done.stdout)["items"]}


class Submits:
    """Somebody who submits jobs all the time; knows which were answered."""

    def __init__(self, server: ServerProcess) -> None:
        self.answered: list[str] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(server,))

    def _run(self, server: ServerProcess) -> None:
        with server.client() as client:
            for number in range(100_000):
                if self._is_over.is_set():
                    return
                job = {"name": f"busy-{number}", "command": "true", "cpus": 0.01, "memory": "16MB"}
                client.post("/jobs", json=job).raise_for_status()
                self.answered.append(f"busy-{number}")

    def __enter__(self) -> Submits:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path / "home", SETTINGS) as running:
        yield running


def test_a_busy_server_is_backed_up_and_lives_again_elsewhere(server: ServerProcess, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "say.sh").write_text("echo from code\n")
    (code / "job.yaml").write_text("name: coded\ncommand: sh say.sh\ncode: .\n")
    assert server.command("submit", str(code / "job.yaml"), "-f").returncode == 0
    assert server.command("submit", "-n", "done", "-f", "--", "echo kept words").returncode == 0
    secret = server.command("secrets", "set", "wandb", input="a value\n")
    assert secret.returncode == 0, secret.stderr
    server.command("submit", "-n", "runs", "--", "sleep 300")
    await_that(lambda: states(server)["runs"] == "RUNNING")
    with Submits(server) as somebody:
        await_that(lambda: len(somebody.answered) > 20)
        before = list(somebody.answered)
        made = server.command("backup", str(tmp_path / "backup"), "--with-logs", "--json")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["n_left_out"] == 0
    assert states(server)["runs"] == "RUNNING"

    again = ServerProcess(tmp_path / "again")
    (again.home / "settings.toml").unlink()
    done = again.command("restore", str(tmp_path / "backup"))
    assert done.returncode == 0, done.stderr
    assert f"Restored {again.home}" in done.stdout
    with again:
        found = states(again)
        # What was answered before the backup began is in it.
        assert set(before) <= set(found)
        assert again.command("logs", "done").stdout == "kept words\n"
        with again.client("admin", PASSWORD) as client:
            assert client.get("/me").json()["name"] == "admin"
        ran = again.command(
            "submit",
            "-n",
            "sealed",
            "-f",
            "--secret",
            "WANDB=wandb",
            "--",
            '[ "$WANDB" = "a value" ] && echo right',
        )
        assert "right" in ran.stdout, ran.stdout + ran.stderr
        cloned = again.command("clone", "coded", "-n", "coded-again", "--json")
        assert cloned.returncode == 0, cloned.stderr
        await_that(lambda: states(again)["coded-again"] == "SUCCEEDED")
        assert again.command("logs", "coded-again").stdout == "from code\n"
        # The original goes on as if nothing had happened.
        assert states(server)["runs"] == "RUNNING"
        for one in (again, server):
            one.command("delete", "runs", "--yes", "--for-good")
        await_that(lambda: not processes_of(tmp_path), 30, "the tasks have ended")


def test_a_backup_that_is_killed_is_never_taken_for_a_whole_one(
    server: ServerProcess, tmp_path: Path
) -> None:
    task = server.home / "jobs" / "2mgk1" / "2mgk1yaq6pst" / "attempt-0" / "main-0"
    task.mkdir(parents=True)
    with (task / "log").open("wb") as out:
        out.write(os.urandom(1 << 20) * 300)
    target = tmp_path / "backup"
    words = [FOOTPLATE, "backup", target, "--with-logs"]
    process = subprocess.Popen(words, env=server.environment, stdout=subprocess.PIPE)
    await_that(lambda: (target / "home" / "jobs").exists() or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (target / "database.sqlite").exists()
    refused = server.command("restore", str(target), "--home", str(tmp_path / "again"))
    assert refused.returncode == 1
    assert "is not a complete backup: it was not finished" in refused.stderr
    assert not (tmp_path / "again").exists()


def test_a_home_in_use_and_a_database_in_use_are_refused_by_the_command(
    server: ServerProcess, tmp_path: Path
) -> None:
    assert server.command("backup", str(tmp_path / "backup")).returncode == 0
    refused = server.command("restore", str(tmp_path / "backup"))
    assert refused.returncode == 1
    assert f"the home folder {server.home} is not empty" in refused.stderr
    confused = server.command("restore", "backup", "--home", str(tmp_path / "again"))
    assert confused.returncode == 2
    assert "write ./backup" in confused.stderr


def test_a_server_on_postgresql_moves_into_a_file(tmp_path: Path, postgres: Postgres) -> None:
    name = postgres.create()
    url = postgres.url(name)
    with ServerProcess(tmp_path / "home", f'database_url = "{url}"\n{SETTINGS}') as server:
        assert server.command("submit", "-n", "done", "-f", "--", "true").returncode == 0
        assert server.command("backup", str(tmp_path / "backup")).returncode == 0
        again = ServerProcess(tmp_path / "again")
        (again.home / "settings.toml").unlink()
        refused = again.command("restore", str(tmp_path / "backup"))
        assert refused.returncode == 1
        assert "name an empty one in FOOTPLATE_DATABASE_URL" in refused.stderr
        done = again.command("restore", str(tmp_path / "backup"), "--sqlite")
        assert "Its rows came from postgresql and are in sqlite now." in done.stdout, done.stderr
        with again:
            assert states(again) == {"done": "SUCCEEDED"}
            assert again.command("submit", "-n", "new", "-f", "--", "true").returncode == 0
        assert states(server) == {"done": "SUCCEEDED"}
    postgres.drop(name)
