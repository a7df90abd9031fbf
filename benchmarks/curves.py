"""A million points from fifty tasks: how fast they come in, and how soon a chart is answered and drawn."""

from __future__ import annotations

import json
import random
import threading
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.browsing import visit
from benchmarks.client import token_of
from benchmarks.report import Row, percentile
from footplate.sdk.client import Client
from footplate.testing.process import ServerProcess

N_TASKS, N_POINTS, BATCH = 50, 20_000, 2000
N_LOOKS = 20


def run(folder: Path) -> list[Row]:
    with ServerProcess(folder / "curves") as server:
        token = token_of(server)
        client = Client(server.url, token=token)
        role = {"name": "worker", "count": N_TASKS, "cpus": 0.01, "memory": "16MB", "command": "sleep 900"}
        job = client.submit({"name": "curves", "roles": [role]})
        job.wait(timeout=120, until="RUNNING")
        took_s = _push_all(server.url, token, job.id)
        whole = {one["task"]: one["n_points"] for one in job.metrics(max_points=2)}
        first_s = _look_s(client, job.id)
        looks = [_look_s(client, job.id) for _ in range(N_LOOKS)]
        visits = visit(server, f"/jobs/{job.id}?tab=metrics", "figure .uplot canvas")
        job.stop()
        client.close()
    rate, n = N_TASKS * N_POINTS / took_s, sum(whole.values())
    is_whole = set(whole.values()) == {N_POINTS} and len(whole) == N_TASKS
    middle_ms = percentile(looks, 0.5) * 1000
    drawn_ms, again_ms = percentile(visits.first, 0.5), percentile(visits.again, 0.5)
    return [
        Row(
            f"points per second from {N_TASKS} tasks, batches of {BATCH}",
            f"{rate:,.0f}",
            "≥ 50,000, each once",
            f"{n:,} kept",
            rate >= 50_000 and is_whole,
        ),
        Row(
            f"a chart over {n:,} points",
            f"{middle_ms:.0f} ms",
            "< 100 ms",
            f"{first_s * 1000:.0f} ms at first",
            middle_ms < 100,
        ),
        Row(
            "the same in Chromium, from the address of the page until it is drawn",
            f"p50 {drawn_ms:.0f} ms, with the scripts in its cache {again_ms:.0f} ms",
            "p50 < 1000 ms",
            f"{N_TASKS} curves",
            drawn_ms < 1000,
        ),
    ]


def _push_all(url: str, token: str, job_id: str) -> float:
    bodies = [[_body(task, number) for number in range(N_POINTS // BATCH)] for task in range(N_TASKS)]
    threads = [threading.Thread(target=_push, args=(url, token, job_id, one)) for one in bodies]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - began


def _body(task: int, number: int) -> bytes:
    steps = range(number * BATCH, (number + 1) * BATCH)
    # Each curve has its extremes at places of its own.
    noise = random.Random(task * N_POINTS + number)
    points = [
        {"at": 1.7e9 + step, "step": step, "values": {"loss": (1 + noise.random()) / (step + 1)}}
        for step in steps
    ]
    told: dict[str, Any] = {"points": points, "task": f"worker-{task}", "source": f"s{task}", "seq": number}
    return json.dumps(told).encode()


def _push(url: str, token: str, job_id: str, bodies: list[bytes]) -> None:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    for body in bodies:
        connection.request("POST", f"/api/v1/jobs/{job_id}/metrics", body, headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()
    connection.close()


def _look_s(client: Client, job_id: str) -> float:
    began = time.monotonic()
    client.job(job_id).metrics(max_points=200)
    return time.monotonic() - began
