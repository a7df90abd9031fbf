"""A thousand one-task jobs that run `true`, from the first submit to the last end."""

from __future__ import annotations

import asyncio
import subprocess
import time
from pathlib import Path

from benchmarks.client import Client, token_of
from benchmarks.report import Row
from footplate.testing.process import ServerProcess

N_JOBS = 1000
N_BURSTS = 3
N_CONNECTIONS = 8
BAR = 200


def run(folder: Path) -> list[Row]:
    with ServerProcess(folder / "throughput") as server:
        token = token_of(server)
        asyncio.run(_burst(server, token, "warm-up", 50))
        rates = [N_JOBS / asyncio.run(_burst(server, token, f"burst-{i}", N_JOBS)) for i in range(N_BURSTS)]
    per_s = sorted(rates)[N_BURSTS // 2]
    began = time.monotonic()
    for _ in range(N_JOBS):
        subprocess.run(["true"], check=True)
    bare = N_JOBS / (time.monotonic() - began)
    claim = (
        f"{N_JOBS:,} one-task jobs running `true`, submitted over HTTP by one client, until all are finished"
    )
    return [
        Row(
            claim,
            f"{per_s:.0f} jobs/s (bursts: {', '.join(f'{rate:.0f}' for rate in rates)})",
            f"≥ {BAR} jobs/s",
            f"bare loop of `subprocess.run`: {bare:.0f}/s",
            per_s >= BAR,
        )
    ]


async def _burst(server: ServerProcess, token: str, name: str, n_jobs: int) -> float:
    numbers = iter(range(n_jobs))
    clients = [Client(server, token) for _ in range(N_CONNECTIONS)]

    async def submit(client: Client) -> None:
        for number in numbers:
            await client.call("POST", "/jobs", {"name": f"{name}-{number}", "command": "true"})

    began = time.monotonic()
    await asyncio.gather(*(submit(client) for client in clients))
    while sum((await clients[0].call("GET", "/summary"))["jobs"].values()):
        await asyncio.sleep(0.1)
    took = time.monotonic() - began
    ended = (await clients[0].call("GET", "/summary"))["finished_today"]
    assert ended["FAILED"] == ended["STOPPED"] == 0, ended
    for client in clients:
        client.close()
    return took
