"""A server that was killed beside a thousand running tasks has them all again within seconds."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from footplate.testing.faults_injector import Victim, victims_of
from footplate.testing.faults_users import Shown, Users
from footplate.testing.process import ServerProcess, await_that

N_JOBS, N_TASKS = 10, 100
pytestmark = pytest.mark.alone

WITHIN_S = 5.0
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
SETTINGS = "[node]\ncpus = 1000\nmemory = '1000GB'\n"


def states_of(users: Users, job_ids: list[str]) -> list[str]:
    return [str(users.show(job_id)["state"]) for job_id in job_ids]


def submit_sleepers(users: Users) -> list[str]:
    role = {"name": "main", "count": N_TASKS, "cpus": 0.5, "memory": "16MB", "command": "exec sleep 1000"}
    documents = [{"name": f"sleeps-{number}", "roles": [role], "grace": "0s"} for number in range(N_JOBS)]
    return [users.submit(document, str(document["name"])) for document in documents]


def cpu_s(pid: int) -> float:
    """CPU time of a process and of those children that have ended."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, words[11:15])) / TICKS_A_SECOND


def command_of(home: Path, job_id: str) -> Victim:
    """The process of a job's first task that the task itself is, not its shim."""
    return next(one for one in victims_of(home) if one.who == (job_id, 0, "main-0") and not one.is_first)


def is_noticed(shown: Shown) -> bool:
    return shown["state"] in ("STOPPING", "FAILED")


@pytest.mark.timeout(400)
def test_a_thousand_running_tasks_are_adopted_within_five_seconds(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "home", SETTINGS) as server, server.client() as client:
        users = Users(client)
        job_ids = submit_sleepers(users)
        await_that(lambda: set(states_of(users, job_ids)) == {"RUNNING"}, 240, "all run", every_s=0.5)
        probe = command_of(server.home, job_ids[0])
        server.kill()
        began_at = time.monotonic()
        server.begin()
        server.await_answer()
        answered_s = time.monotonic() - began_at
        # That it knows them is seen by one that ends: nobody else tells the server of that.
        os.kill(probe.pid, signal.SIGTERM)
        await_that(lambda: is_noticed(users.show(job_ids[0])), 60, "the end of one is noticed")
        noticed_s = time.monotonic() - began_at
        assert states_of(users, job_ids[1:]) == ["RUNNING"] * (N_JOBS - 1)
        seen_s, own_s = time.monotonic() - began_at, cpu_s(server.pid)
        figures = (
            f"answers after {answered_s:.2f} s, one end noticed {noticed_s:.2f} s, all seen {seen_s:.2f} s; "
            f"{own_s:.2f} s of CPU"
        )
        print(figures)
        # Who has killed it nobody knows: that is a failure like any other.
        ended = users.await_end(job_ids[0])
        assert (ended["state"], ended["reason"]["details"]["exit_code"]) == ("FAILED", 143)
        for job_id in job_ids[1:]:
            users.tell(job_id, "stop")
        assert {users.await_end(job_id)["state"] for job_id in job_ids[1:]} == {"STOPPED"}
        assert await_that(lambda: not victims_of(server.home), 20, "nothing is left")
    assert seen_s < WITHIN_S, figures
