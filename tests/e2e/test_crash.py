"""The server is killed a hundred times at random moments while jobs of all kinds go through.

Afterwards every answered submit is there, every job has the end it must have, no task ran twice at once,
every exit code and log is right, the event log tells only legal moves, and no process is left behind.
"""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.domain.advance import MOVES
from footplate.testing.process import ServerProcess, await_that, processes_of

KILLS = int(os.environ.get("FOOTPLATE_TEST_KILLS", "100"))
N_JOBS = 50
SEED = int(os.environ.get("FOOTPLATE_TEST_SEED", "20"))

# Each task notes its start, and holds a lock while it lives: a second one would find it taken.
GUARD = """
note=$FOOTPLATE_CHECKPOINT_DIR/$FOOTPLATE_TASK.$FOOTPLATE_ATTEMPT
mkdir -p "$FOOTPLATE_CHECKPOINT_DIR"
echo start >> "$note"
exec 9> "$note.lock"
flock -n 9 || echo twice >> "$note"
"""


@dataclass
class Kind:
    """A kind of job: what it asks, what is done to it, and how it must end."""

    name: str
    document: dict[str, Any]
    state: str
    attempts: int = 1
    codes: dict[str, int | None] = field(default_factory=lambda: {"main-0": 0})
    stops: bool = False
    log: str | None = None


def kinds(pause_s: float) -> list[Kind]:
    sleep = f"sleep {pause_s:.2f}"
    return [
        Kind("succeeds", {"command": f"{GUARD}{sleep}\necho fine"}, "SUCCEEDED", log="fine\n"),
        Kind(
            "fails",
            {"command": f"{GUARD}echo no\n{sleep}\nexit 3"},
            "FAILED",
            codes={"main-0": 3},
            log="no\n",
        ),
        Kind(
            "retried",
            {
                "command": f"{GUARD}{sleep}\necho try $FOOTPLATE_ATTEMPT\n[ $FOOTPLATE_ATTEMPT = 2 ]",
                "retry": 5,
            },
            "SUCCEEDED",
            attempts=3,
            log="try 2\n",
        ),
        Kind(
            "stopped",
            {"command": f"{GUARD}echo up\nsleep 1000", "grace": "2s"},
            "STOPPED",
            codes={},
            stops=True,
        ),
        Kind(
            "two-roles",
            {
                "roles": [
                    {"name": "ps", "command": f"{GUARD}sleep 1000", "cpus": 0.1},
                    {
                        "name": "worker",
                        "count": 2,
                        "cpus": 0.1,
                        "command": f"{GUARD}{sleep}\necho done $RANK",
                        "completion": {"min_succeeded": 2},
                    },
                ],
                "grace": "2s",
            },
            "SUCCEEDED",
            codes={"worker-0": 0, "worker-1": 0},
        ),
    ]


class Users:
    """Submits and stops as people do: again and again until an answer comes."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        def tried() -> httpx.Response | None:
            try:
                answer = self._client.request(method, path, **options)
            except httpx.TransportError:
                return None
            assert answer.status_code < 500, answer.text
            return answer

        answer: httpx.Response = await_that(tried, 60, f"{method} {path} is answered")
        return answer

    def submit(self, number: int, kind: Kind) -> str:
        document = {"name": f"{kind.name}-{number}", "cpus": 0.1, "memory": "16MB", **kind.document}
        if "roles" in document:
            del document["cpus"], document["memory"]
        answer = self.call("POST", "/jobs", json=document, headers={"Idempotency-Key": f"key-{number}"})
        assert answer.status_code in (200, 201), answer.text
        return str(answer.json()["id"])

    def show(self, job_id: str) -> dict[str, Any]:
        answer = self.call("GET", f"/jobs/{job_id}")
        assert answer.status_code == 200, f"an answered submit was lost: {job_id} {answer.text}"
        shown: dict[str, Any] = answer.json()
        return shown

    def stop_when_running(self, job_id: str) -> None:
        await_that(lambda: self.show(job_id)["state"] == "RUNNING", 60, f"{job_id} runs")
        assert self.call("POST", f"/jobs/{job_id}/stop").status_code in (200, 409)


def keep_killing(server: ServerProcess, chance: random.Random, tell: Callable[[int], None]) -> None:
    for number in range(KILLS):
        time.sleep(chance.choice((0.0, 0.02, 0.1, 0.3)) + chance.random() * 0.2)
        server.kill()
        server.start()
        tell(number + 1)


@pytest.mark.timeout(600)
def test_a_hundred_kills_of_the_server_lose_nothing(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    server = ServerProcess(tmp_path / "home", "[node]\ncpus = 8\nmemory = '64GB'\n")
    with server, server.client() as client:
        users = Users(client)
        n_killed = [0]
        killer = threading.Thread(
            target=keep_killing, args=(server, chance, lambda n: n_killed.__setitem__(0, n)), daemon=True
        )
        killer.start()
        submitted = submit_all(users, n_killed, chance)
        killer.join(timeout=500)
        assert n_killed[0] == KILLS
        for job_id, kind in submitted.items():
            shown = await_that(
                lambda job_id=job_id: _final(users.show(job_id)), 60, f"{job_id} {kind.name} ends"
            )
            check_end(users, shown, kind)
        check_guards(tmp_path / "home", submitted)
        check_moves(tmp_path / "home")
        free = users.call("GET", "/nodes").json()["items"][0]["free"]
        assert (free["cpus"], free["memory_bytes"]) == (8, 64 * 1024**3)
    await_that(lambda: not processes_of(tmp_path / "home"), 5, "no process of a task is left")


def submit_all(users: Users, n_killed: list[int], chance: random.Random) -> dict[str, Kind]:
    """Spread the jobs over the kills, each submitted and, where its kind says so, stopped by its own user."""
    submitted: dict[str, Kind] = {}
    stoppers = []
    for number in range(N_JOBS):
        await_that(lambda number=number: n_killed[0] >= number * KILLS // N_JOBS, 300, "more kills")
        kind = kinds(chance.random() * 2)[number % 5]
        job_id = users.submit(number, kind)
        assert users.submit(number, kind) == job_id, "a repeated submit is the same job"
        submitted[job_id] = kind
        if kind.stops:
            stoppers.append(threading.Thread(target=users.stop_when_running, args=(job_id,)))
            stoppers[-1].start()
    for stopper in stoppers:
        stopper.join(timeout=120)
        assert not stopper.is_alive()
    return submitted


def _final(shown: dict[str, Any]) -> dict[str, Any] | None:
    return shown if shown["state"] in ("SUCCEEDED", "FAILED", "STOPPED") else None


def check_end(users: Users, shown: dict[str, Any], kind: Kind) -> None:
    story = f"{shown['name']}: {shown['reason']} {shown['tasks']}"
    assert shown["state"] == kind.state, story
    assert shown["attempt"] == kind.attempts - 1, story
    codes = {task["name"]: task["exit_code"] for task in shown["tasks"]}
    for name, code in kind.codes.items():
        assert codes[name] == code, story
    if kind.log is not None:
        log = users.call("GET", f"/jobs/{shown['id']}/logs/download")
        assert log.text == kind.log, story


def check_guards(home: Path, submitted: dict[str, Kind]) -> None:
    notes = [path for path in home.glob("jobs/*/*/checkpoints/*") if path.suffix != ".lock"]
    assert len({path.parent for path in notes}) == len(submitted), "every job has run"
    for note in notes:
        assert note.read_text() == "start\n", f"{note} was started twice"


def check_moves(home: Path) -> None:
    """Read the event log itself: numbered without repeats, and every state follows from the one before."""
    allowed: dict[str, set[str]] = {}
    for (state, _), targets in MOVES.items():
        allowed.setdefault(state.value, set()).update(target.value for target in targets)
    with closing(sqlite3.connect(home / "footplate.db")) as database:
        rows = database.execute(
            "SELECT job_id, kind FROM events WHERE kind IN "
            "('starting','running','stopping','requeued','succeeded','failed','stopped') ORDER BY seq"
        ).fetchall()
    states: dict[str, str] = {}
    for job_id, kind in rows:
        state = "QUEUED" if kind == "requeued" else kind.upper()
        before = states.get(job_id, "QUEUED")
        assert state in allowed[before], f"{job_id} moved from {before} to {state}"
        states[job_id] = state
