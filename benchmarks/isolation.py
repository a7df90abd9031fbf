"""What isolation costs: limits around a process, and a container beside the bare container engine."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.client import Client, first_line, token_of
from benchmarks.report import Row, percentile
from footplate.testing.container_engine import BUSYBOX, ContainerEngineMissing, busybox, running_podman
from footplate.testing.process import ServerProcess

N_JOBS = 40
N_CONTAINERS = 10
LIMITS_BAR_MS = 10
CONTAINER_BAR = 1.5


def run(folder: Path) -> list[Row]:
    limited = _first_lines(folder / "limited", N_JOBS)
    free = _first_lines(folder / "free", N_JOBS, FOOTPLATE_LIMITS="off")
    cost_ms = (percentile(limited, 0.5) - percentile(free, 0.5)) * 1000
    row = Row(
        "submit to first line of a process with limits (CPU, memory, processes, shm, private files)",
        f"p50 {percentile(limited, 0.5) * 1000:.1f} ms, {cost_ms:+.1f} ms by the limits",
        f"limits cost < {LIMITS_BAR_MS} ms",
        f"the same with limits off: p50 {percentile(free, 0.5) * 1000:.1f} ms",
        cost_ms < LIMITS_BAR_MS,
    )
    return [row, *_containers(folder)]


def _containers(folder: Path) -> list[Row]:
    claim = "submit to first line of a Podman container"
    try:
        with running_podman() as podman:
            podman.load(BUSYBOX, busybox())
            environment = {"FOOTPLATE_CONTAINER_SOCKET": str(podman.socket)}
            ours = _first_lines(folder / "containers", N_CONTAINERS, BUSYBOX, **environment)
            words = [*podman.command[:3], "run", "--rm", "--network=host", BUSYBOX, "echo", "first"]
            bare = [_bare(words, podman.environment) for _ in ours]
    except ContainerEngineMissing as reason:
        return [Row(claim, "not measured", f"< {CONTAINER_BAR} x bare", str(reason), holds=False)]
    seen, beside = percentile(ours, 0.5), percentile(bare, 0.5)
    return [
        Row(
            claim,
            f"p50 {seen * 1000:.0f} ms",
            f"< {CONTAINER_BAR} x bare",
            f"bare `podman run --rm`: p50 {beside * 1000:.0f} ms",
            seen < CONTAINER_BAR * beside,
        )
    ]


def _first_lines(home: Path, n_jobs: int, image: str = "", **environment: str) -> list[float]:
    with ServerProcess(home, **environment) as server:
        return asyncio.run(_measure(server, token_of(server), n_jobs, image))


async def _measure(server: ServerProcess, token: str, n_jobs: int, image: str) -> list[float]:
    client = Client(server, token)
    seen = []
    for number in range(n_jobs + 3):
        began = time.monotonic()
        document = {"name": f"line-{number}", "command": "echo first", "memory": "256MB", "image": image}
        job = await client.call("POST", "/jobs", document)
        line = await first_line(server, token, f"/jobs/{job['id']}/logs/stream")
        assert line == "first\n", line
        seen.append(time.monotonic() - began)
    client.close()
    return seen[3:]


def _bare(words: Sequence[str], environment: Mapping[str, str]) -> float:
    began = time.monotonic()
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"first\n"
        return time.monotonic() - began
