"""A thousand one-task jobs that run `true`, over HTTP and through the client, beside a bare loop."""

from __future__ import annotations

import asyncio
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks.client import Client, token_of
from benchmarks.report import Row
from footplate.sdk import client as sdk
from footplate.testing.process import ServerProcess

N_JOBS = 1000
N_BURSTS = 3
N_CONNECTIONS = 8
N_THREADS = 8
N_WARM_UP = 50
# Parts of what a bare loop does in the same run: machines differ, and so does one from hour to hour.
HTTP_BAR = 0.18
SDK_BAR = 0.12

Asks = dict[str, float]
Burst = Callable[[ServerProcess, str, str, int, Asks], float]


def run(folder: Path) -> list[Row]:
    """Measure jobs that ask for little, and jobs that ask for nothing and so get a whole CPU each."""
    bare: list[float] = []
    with ServerProcess(folder / "throughput") as server:
        token = token_of(server)

        def measure(name: str, burst: Burst, asks: Asks) -> list[float]:
            burst(server, token, f"{name}-warm-up", N_WARM_UP, asks)
            rates = []
            for number in range(N_BURSTS):
                rates.append(N_JOBS / burst(server, token, f"{name}-{number}", N_JOBS, asks))
                bare.append(_bare())
            return rates

        small = measure("small", _over_http, {"cpus": 0.1})
        whole = measure("whole", _over_http, {})
        threads = measure("sdk", _through_the_client, {"cpus": 0.1})
    claim = (
        f"{N_JOBS:,} one-task jobs running `true`, submitted over HTTP by one client, until all are finished"
    )
    return [
        _row(f"{claim}; 0.1 CPU each", small, bare, HTTP_BAR),
        _row("the same; the default of 1 CPU each, so two at a time", whole, bare, HTTP_BAR),
        _row(
            f"{N_JOBS:,} such jobs of 0.1 CPU through the Python client, "
            f"submit and wait in each of {N_THREADS} threads",
            threads,
            bare,
            SDK_BAR,
        ),
    ]


def _row(claim: str, rates: list[float], bare: list[float], bar: float) -> Row:
    part = median(rates) / median(bare)
    return Row(
        claim,
        f"{median(rates):.0f} jobs/s (bursts: {', '.join(f'{rate:.0f}' for rate in rates)}), "
        f"{part:.2f} of the bare loop",
        f"≥ {bar} of the bare loop",
        f"bare loop of `subprocess.run`: {median(bare):.0f}/s",
        part >= bar,
    )


def _bare() -> float:
    n_runs = N_JOBS // 3
    began = time.monotonic()
    for _ in range(n_runs):
        subprocess.run(["true"], check=True)
    return n_runs / (time.monotonic() - began)


def _over_http(server: ServerProcess, token: str, name: str, n_jobs: int, asks: Asks) -> float:
    return asyncio.run(_burst(server, token, name, n_jobs, asks))


async def _burst(server: ServerProcess, token: str, name: str, n_jobs: int, asks: Asks) -> float:
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


def _through_the_client(server: ServerProcess, token: str, name: str, n_jobs: int, asks: Asks) -> float:
    """Submit jobs and wait for each, in threads that share one client, as a sweep over parameters does."""
    numbers, lock, ended = iter(range(n_jobs)), threading.Lock(), []

    def taken() -> Iterator[int]:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            yield number

    with sdk.Client(server.url, token) as client:

        def work() -> None:
            for number in taken():
                job = client.submit({"name": f"{name}-{number}", "command": "true", **asks})
                ended.append(job.wait().state)

        threads = [threading.Thread(target=work) for _ in range(N_THREADS)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - began
    assert ended == ["SUCCEEDED"] * n_jobs, ended
    return took
