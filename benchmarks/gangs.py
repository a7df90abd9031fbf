"""Gangs: how soon a large one runs and ends, how soon one is whole again after a rank dies, and recovery."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

from benchmarks.client import Client, token_of
from benchmarks.report import Row, percentile
from footplate.domain.pauses import SHORT_LIVED_S
from footplate.testing.process import ServerProcess

N_LARGE = 500
N_RANKS = 8
N_RESTARTS = 5
N_RECOVERED = 1000
RUNNING_BAR_S = 5.0
FINISHED_BAR_S = 10.0
RESTART_BAR_S = 1.0
RECOVERY_BAR_S = 5.0
ROOMY = "[node]\ncpus = 2000\nmemory = '100TB'\n"


def run(folder: Path) -> list[Row]:
    with ServerProcess(folder / "gangs", ROOMY) as server:
        token = token_of(server)
        running_s, finished_s = asyncio.run(_large(server, token))
        restarts = asyncio.run(_restarts(server, token))
    recovered_s, up_s = _recovery(folder / "recovery")
    restart_s = percentile(restarts, 0.5)
    return [
        Row(
            f"a job of {N_LARGE} tasks: submit to all running",
            f"{running_s:.2f} s",
            f"< {RUNNING_BAR_S:g} s",
            f"bare fork and exec of {N_LARGE} `sleep`: {_bare_starts():.2f} s",
            running_s < RUNNING_BAR_S,
        ),
        Row(
            f"a job of {N_LARGE} tasks that end at once: submit to SUCCEEDED",
            f"{finished_s:.2f} s",
            f"< {FINISHED_BAR_S:g} s",
            "",
            finished_s < FINISHED_BAR_S,
        ),
        Row(
            f"one of {N_RANKS} ranks killed: until all run again in the next attempt",
            f"p50 {restart_s * 1000:.0f} ms, longest {max(restarts) * 1000:.0f} ms",
            f"p50 < {RESTART_BAR_S:g} s",
            "",
            restart_s < RESTART_BAR_S,
        ),
        Row(
            f"server killed with {N_RECOVERED:,} running tasks: start to all adopted and an end noticed",
            f"{recovered_s:.2f} s",
            f"< {RECOVERY_BAR_S:g} s",
            f"of which until it answers: {up_s:.2f} s",
            recovered_s < RECOVERY_BAR_S,
        ),
    ]


def _job(name: str, command: str, count: int, **more: Any) -> dict[str, Any]:
    return {"name": name, "command": command, "count": count, "memory": "16MB", "grace": "2s", **more}


async def _until(client: Client, job_id: str, *states: str) -> dict[str, Any]:
    while (job := await client.call("GET", f"/jobs/{job_id}"))["state"] not in states:
        await asyncio.sleep(0.02)
    found: dict[str, Any] = job
    return found


async def _large(server: ServerProcess, token: str) -> tuple[float, float]:
    client = Client(server, token)
    began = time.monotonic()
    job = await client.call("POST", "/jobs", _job("large", "sleep 600", N_LARGE))
    await _until(client, job["id"], "RUNNING")
    running_s = time.monotonic() - began
    await client.call("POST", f"/jobs/{job['id']}/stop")
    await _until(client, job["id"], "STOPPED")
    began = time.monotonic()
    job = await client.call("POST", "/jobs", _job("short", "true", N_LARGE))
    await _until(client, job["id"], "SUCCEEDED")
    finished_s = time.monotonic() - began
    client.close()
    return running_s, finished_s


async def _restarts(server: ServerProcess, token: str) -> list[float]:
    client = Client(server, token)
    command = "echo $$ > $FOOTPLATE_OUTPUT_DIR/$RANK.$FOOTPLATE_ATTEMPT; exec sleep 600"
    job = await client.call("POST", "/jobs", _job("ranks", command, N_RANKS, retry=N_RESTARTS))
    output = server.home / "jobs" / job["id"][:5] / job["id"] / "output"
    seen = []
    for attempt in range(N_RESTARTS):
        while (await client.call("GET", f"/jobs/{job['id']}"))["attempt"] < attempt:
            await asyncio.sleep(0.01)
        await _until(client, job["id"], "RUNNING")
        victim = output / f"3.{attempt}"
        while not victim.exists() or not victim.read_text():
            await asyncio.sleep(0.01)
        # A gang that dies as soon as it runs, time and again, is made to pause; one at work is not.
        await asyncio.sleep(SHORT_LIVED_S)
        began = time.monotonic()
        os.kill(int(victim.read_text()), signal.SIGKILL)
        await _all_begun(output, attempt + 1)
        seen.append(time.monotonic() - began)
    await client.call("POST", f"/jobs/{job['id']}/stop")
    await _until(client, job["id"], "STOPPED")
    client.close()
    return seen


async def _all_begun(output: Path, attempt: int) -> None:
    """Wait until every rank of an attempt has left its mark."""
    while not all((output / f"{rank}.{attempt}").exists() for rank in range(N_RANKS)):
        await asyncio.sleep(0.002)


def _recovery(home: Path) -> tuple[float, float]:
    with ServerProcess(home, ROOMY) as server:
        token = token_of(server)
        probe = asyncio.run(_fill(server, token))
        server.kill()
        began = time.monotonic()
        server.start()
        up_s = time.monotonic() - began
        asyncio.run(_notice(server, token, probe))
        recovered_s = time.monotonic() - began
        asyncio.run(_empty(server, token))
    return recovered_s, up_s


async def _fill(server: ServerProcess, token: str) -> str:
    client = Client(server, token)
    for number in range(10):
        document = _job(f"held-{number}", "sleep 600", N_RECOVERED // 10 - (number == 0))
        await client.call("POST", "/jobs", document)
    probe = await client.call(
        "POST", "/jobs", _job("probe", "until [ -e $FOOTPLATE_OUTPUT_DIR/go ]; do sleep 0.01; done", 1)
    )
    while (await client.call("GET", "/summary"))["jobs"]["RUNNING"] < 11:
        await asyncio.sleep(0.05)
    client.close()
    return str(probe["id"])


async def _notice(server: ServerProcess, token: str, probe: str) -> None:
    """Let one task end, and wait until the new server has noticed and still holds all the others."""
    (server.home / "jobs" / probe[:5] / probe / "output" / "go").touch()
    client = Client(server, token)
    await _until(client, probe, "SUCCEEDED")
    assert (await client.call("GET", "/summary"))["jobs"]["RUNNING"] == 10
    client.close()


async def _empty(server: ServerProcess, token: str) -> None:
    client = Client(server, token)
    for number in range(10):
        await client.call("POST", f"/jobs/held-{number}/stop")
    for number in range(10):
        await _until(client, f"held-{number}", "STOPPED")
    client.close()


def _bare_starts() -> float:
    began = time.monotonic()
    pids = [os.posix_spawn("/bin/sleep", ["sleep", "600"], {}) for _ in range(N_LARGE)]
    took_s = time.monotonic() - began
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return took_s
