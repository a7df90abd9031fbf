"""A task that prints a gibibyte, while others use the API."""

from __future__ import annotations

import asyncio
import subprocess
import time
from pathlib import Path

from benchmarks.client import Client, token_of
from benchmarks.report import Row, percentile
from footplate.testing.process import ServerProcess

SIZE = 1024**3
BAR_MS = 100
LINE = "epoch 1 step 12345 loss 0.123456 accuracy 0.987654 lr 0.001 time 0.123 s, all fine here ok"
COMMAND = f"yes '{LINE}' | head -c {SIZE}"


def run(folder: Path) -> list[Row]:
    with ServerProcess(folder / "log") as server:
        token = token_of(server)
        took_s, seen, size = asyncio.run(_measure(server, token))
    target = folder / "bare.log"
    began = time.monotonic()
    with target.open("wb") as out:
        subprocess.run(["bash", "-c", COMMAND], stdout=out, check=True)
    bare_s = time.monotonic() - began
    target.unlink()
    p99 = percentile(seen, 0.99) * 1000
    return [
        Row(
            "a task prints 1 GiB, while other API calls go on",
            f"stored {size:,} bytes in {took_s:.1f} s; other calls p99 {p99:.1f} ms",
            f"stored whole; p99 < {BAR_MS} ms",
            f"the same into a bare file: {bare_s:.1f} s",
            size == SIZE and p99 < BAR_MS,
        )
    ]


async def _measure(server: ServerProcess, token: str) -> tuple[float, list[float], int]:
    client = Client(server, token)
    began = time.monotonic()
    job = await client.call("POST", "/jobs", {"name": "loud", "command": COMMAND})
    path, seen, number = f"/jobs/{job['id']}", [], 0
    while True:
        for call in (path, "/jobs", "/queues", f"{path}/events"):
            at = time.monotonic()
            answer = await client.call("GET", call)
            seen.append(time.monotonic() - at)
            if call == path:
                state = answer["state"]
        at = time.monotonic()
        await client.call("POST", "/jobs/dry-run", {"name": f"other-{number}", "command": "true"})
        seen.append(time.monotonic() - at)
        number += 1
        if state in ("SUCCEEDED", "FAILED", "STOPPED"):
            break
    took_s = time.monotonic() - began
    assert state == "SUCCEEDED", state
    client.close()
    logs = list(server.home.glob("jobs/*/*/attempt-0/main-0/log"))
    return took_s, seen, logs[0].stat().st_size
