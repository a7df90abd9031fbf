"""Metrics over `kill -9`: every point that was acknowledged is there, and there once."""

from __future__ import annotations

import csv
import io
import os
import random
import threading
from pathlib import Path

import httpx

from footplate.testing.process import ServerProcess, await_that

N_KILLS = int(os.environ.get("FOOTPLATE_TEST_METRIC_KILLS", "3"))
SEED = int(os.environ.get("FOOTPLATE_TEST_SEED", "1"))
N_TASKS, BATCH = 5, 200
BATCHES_PER_KILL = 20


class Pusher(threading.Thread):
    """A task that pushes batch after batch until it is told to end; one without an answer is sent again."""

    def __init__(self, server: ServerProcess, job_id: str, task: int) -> None:
        super().__init__(daemon=True)
        self._job_id, self.task = job_id, f"worker-{task}"
        # Signed in before the first kill.
        self._client = server.client()
        self.n_kept = 0
        self.n_repeated = 0
        self.wrong: list[str] = []
        self.is_over = threading.Event()

    def run(self) -> None:
        with self._client as client:
            while not self.is_over.is_set() and not self.wrong:
                self._push(client)

    def _push(self, client: httpx.Client) -> None:
        steps = range(self.n_kept * BATCH, (self.n_kept + 1) * BATCH)
        points = [{"step": step, "values": {"loss": float(step)}} for step in steps]
        body = {"task": self.task, "source": self.task, "seq": self.n_kept, "points": points}
        try:
            answer = client.post(f"/jobs/{self._job_id}/metrics", json=body)
        except httpx.TransportError:
            # Nobody knows whether it was kept.
            self.n_repeated += 1
            self.is_over.wait(0.01)
            return
        if answer.status_code == 200:
            self.n_kept += 1
        elif answer.status_code < 500:
            self.wrong.append(answer.text)


def test_kills_lose_no_point_and_keep_none_twice(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    with ServerProcess(tmp_path / "home") as server, server.client() as client:
        role = {"name": "worker", "count": N_TASKS, "cpus": 0.01, "memory": "16MB", "command": "sleep 600"}
        job_id = client.post("/jobs", json={"name": "pushed", "roles": [role]}).json()["id"]
        await_that(lambda: client.get(f"/jobs/{job_id}").json()["state"] == "RUNNING", 60)
        pushers = [Pusher(server, job_id, task) for task in range(N_TASKS)]
        for pusher in pushers:
            pusher.start()
        for _ in range(N_KILLS):
            wanted = sum(one.n_kept for one in pushers) + chance.randrange(BATCHES_PER_KILL)
            await_that(lambda wanted=wanted: sum(one.n_kept for one in pushers) > wanted, 60, "some batches")
            # While all of them push.
            server.kill()
            server.start()
        enough = sum(one.n_kept for one in pushers) + N_TASKS
        await_that(lambda: sum(one.n_kept for one in pushers) > enough, 60, "batches after the last kill")
        for pusher in pushers:
            pusher.is_over.set()
            pusher.join(60)
        assert [fault for one in pushers for fault in one.wrong] == []
        assert sum(one.n_repeated for one in pushers) > 0
        table = list(csv.DictReader(io.StringIO(client.get(f"/jobs/{job_id}/metrics/export").text)))
        for pusher in pushers:
            steps = [int(row["step"]) for row in table if row["task"] == pusher.task]
            acknowledged = range(pusher.n_kept * BATCH)
            # The last one may have come without an answer.
            assert len(steps) == len(set(steps))
            assert set(steps) >= set(acknowledged)
            assert len(steps) - len(acknowledged) in (0, BATCH)
        client.post(f"/jobs/{job_id}/stop", params={"now": True})
