"""What a dialect costs: the same list of jobs through OpenPAI's route and through ours."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import httpx

from benchmarks.many_jobs import ONE_AT_A_TIME, fill
from benchmarks.report import Row, percentile
from footplate.testing.process import ServerProcess

N_JOBS = 5000
PAGE = 1000
N_TIMES = 20
BAR = 1.5


def run(folder: Path) -> list[Row]:
    server = ServerProcess(folder / "dialects", ONE_AT_A_TIME)
    with server:
        pass
    fill(server.home / "footplate.db", N_JOBS)
    with server, server.client() as client:
        ours, theirs = [], []
        for _ in range(N_TIMES):
            # In turn, so that both have the machine as it is just then.
            ours.append(_timed(client, _ours))
            theirs.append(_timed(client, _theirs))
    our_ms, their_ms = percentile(ours, 0.5) * 1000, percentile(theirs, 0.5) * 1000
    ratio = their_ms / our_ms
    return [
        Row(
            f"{N_JOBS:,} jobs listed through OpenPAI's route",
            f"p50 {their_ms:.0f} ms, {ratio:.2f} of our own",
            f"at most {BAR} of our own",
            f"our own route, in pages of {PAGE:,}: p50 {our_ms:.0f} ms",
            ratio <= BAR,
        )
    ]


def _timed(client: httpx.Client, listing: Callable[[httpx.Client], int]) -> float:
    began = time.perf_counter()
    n_listed = listing(client)
    took_s = time.perf_counter() - began
    assert n_listed == N_JOBS, n_listed
    return took_s


def _ours(client: httpx.Client) -> int:
    n_listed, token = 0, ""
    while True:
        page = client.get("/jobs", params={"limit": PAGE, **({"page_token": token} if token else {})}).json()
        n_listed += len(page["items"])
        token = page["next_page_token"]
        if not token:
            return n_listed


def _theirs(client: httpx.Client) -> int:
    url = str(client.base_url).replace("/api/v1/", "/rest-server/api/v2/jobs")
    return len(client.get(url, params={"limit": N_JOBS}).json())
