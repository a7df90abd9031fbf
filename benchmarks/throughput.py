"""A thousand one-task jobs that run `true`, from the first submit to the last end."""

from __future__ import annotations

import asyncio
import subprocess
import time
from pathlib import Path
from statistics import median

from benchmarks.client import Client, token_of
from benchmarks.report import Row
from footplate.testing.process import ServerProcess

N_JOBS = 1000
N_BURSTS = 3
N_CONNECTIONS = 8
BAR = 200


def run(folder: Path) -> list[Row]:
    """Measure jobs that ask for little, and jobs that ask for nothing and so get a whole CPU each."""
    with ServerProcess(folder / "throughput") as server:
        token = token_of(server)
        asyncio.run(_burst(server, token, "warm-up", 50, {}))
        small = _rates(server, token, "small", {"cpus": 0.1})
        whole = _rates(server, token, "whole", {})
    began = time.monotonic()
    for _ in range(N_JOBS):
        subprocess.run(["true"], check=True)
    beside = f"bare loop of `subprocess.run`: {N_JOBS / (time.monotonic() - began):.0f}/s"
    claim = (
        f"{N_JOBS:,} one-task jobs running `true`, submitted over HTTP by one client, until all are finished"
    )
    return [
        Row(f"{claim}; 0.1 CPU each", _show(small), f"≥ {BAR} jobs/s", beside, median(small) >= BAR),
        Row(
            "the same; the default of 1 CPU each, so two at a time",
            _show(whole),
            f"≥ {BAR} jobs/s",
            beside,
            median(whole) >= BAR,
        ),
    ]


def _rates(server: ServerProcess, token: str, name: str, asks: dict[str, float]) -> list[float]:
    return [N_JOBS / asyncio.run(_burst(server, token, f"{name}-{i}", N_JOBS, asks)) for i in range(N_BURSTS)]


def _show(rates: list[float]) -> str:
    return f"{median(rates):.0f} jobs/s (bursts: {', '.join(f'{rate:.0f}' for rate in rates)})"


async def _burst(server: ServerProcess, token: str, name: str, n_jobs: int, asks: dict[str, float]) -> float:
    numbers = iter(range(n_jobs))
    clients = [Client(server, token) for _ in range(N_CONNECTIONS)]

    async def submit(client: Client) -> None:
        for number in numbers:
            await client.call("POST", "/jobs", {"name": f"{name}-{number}", "command": "true", **asks})

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
