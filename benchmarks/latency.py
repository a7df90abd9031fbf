"""From submit to the first line of the job's output, as a follower sees it."""

from __future__ import annotations

import asyncio
import subprocess
import time
from pathlib import Path

from benchmarks.client import Client, first_line, token_of
from benchmarks.report import Row, percentile
from footplate.testing.process import ServerProcess

N_JOBS = 40
BAR_MS = 30


def run(folder: Path) -> list[Row]:
    with ServerProcess(folder / "latency") as server:
        token = token_of(server)
        seen = asyncio.run(_measure(server, token))
    bare = [_bare() for _ in range(N_JOBS)]
    p50, p99 = (percentile(seen, part) * 1000 for part in (0.5, 0.99))
    return [
        Row(
            "submit to first line of the job's output seen by a follower",
            f"p50 {p50:.0f} ms, p99 {p99:.0f} ms",
            f"p50 < {BAR_MS} ms",
            f"bare `bash -c 'echo'` read from a pipe: {percentile(bare, 0.5) * 1000:.1f} ms",
            p50 < BAR_MS,
        )
    ]


async def _measure(server: ServerProcess, token: str) -> list[float]:
    client = Client(server, token)
    seen = []
    for number in range(-5, N_JOBS):
        began = time.monotonic()
        job = await client.call("POST", "/jobs", {"name": f"line-{number + 5}", "command": "echo first"})
        line = await first_line(server, token, f"/jobs/{job['id']}/logs/stream")
        assert line == "first\n", line
        if number >= 0:
            seen.append(time.monotonic() - began)
    client.close()
    return seen


def _bare() -> float:
    began = time.monotonic()
    with subprocess.Popen(["bash", "-c", "echo first"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        return time.monotonic() - began
