"""What the server itself takes: idle, and with a thousand running tasks whose use it measures."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import psutil

from benchmarks.client import Client, token_of
from benchmarks.report import Row
from footplate.testing.process import ServerProcess

N_TASKS = 1000
IDLE_BAR_MB = 150
BUSY_BAR_MB = 400
SETTLED_AFTER_S, WATCHED_S, CPU_BAR = 15, 30, 0.05


def run(folder: Path) -> list[Row]:
    with ServerProcess(folder / "memory", "[node]\ncpus = 2000\nmemory = '100TB'\n") as server:
        token = token_of(server)
        idle = _server_mb(server.pid)
        asyncio.run(_fill(server, token))
        busy = _server_mb(server.pid)
        time.sleep(SETTLED_AFTER_S)
        part = _cpu_part(server.pid)
        shims = sum(
            _private_mb(process) for process in psutil.process_iter() if _is_shim(process, server.home)
        )
        asyncio.run(_stop(server, token))
    beside = f"the {N_TASKS} shims beside it: {shims:.0f} MB"
    return [
        Row("server memory, idle", f"{idle:.0f} MB", f"< {IDLE_BAR_MB} MB", "", idle < IDLE_BAR_MB),
        Row(
            f"server memory with {N_TASKS:,} running tasks",
            f"{busy:.0f} MB",
            f"< {BUSY_BAR_MB} MB",
            beside,
            busy < BUSY_BAR_MB,
        ),
        Row(
            f"CPU of the server that measures {N_TASKS:,} tasks and does nothing else",
            f"{part:.1%} of a core",
            f"< {CPU_BAR:.0%}",
            f"over {WATCHED_S} s",
            part < CPU_BAR,
        ),
    ]


def _server_mb(pid: int) -> float:
    """The server and the helpers that it keeps, without the tasks."""
    server = psutil.Process(pid)
    family = [server, *(child for child in server.children() if "spawner" in " ".join(child.cmdline()))]
    return float(sum(process.memory_info().rss for process in family)) / 1024**2


def _cpu_part(pid: int) -> float:
    """How much of a core the server takes, with its helpers: all of it, not the measuring alone."""
    before = _cpu_s(pid)
    time.sleep(WATCHED_S)
    return (_cpu_s(pid) - before) / WATCHED_S


def _cpu_s(pid: int) -> float:
    server = psutil.Process(pid)
    return float(sum(sum(one.cpu_times()[:2]) for one in (server, *server.children())))


def _is_shim(process: psutil.Process, home: Path) -> bool:
    try:
        words = process.cmdline()
        return bool(words) and words[0].endswith("sh") and any(word.startswith(str(home)) for word in words)
    except psutil.Error:
        return False


def _private_mb(process: psutil.Process) -> float:
    try:
        return float(process.memory_full_info().uss) / 1024**2
    except psutil.Error:
        return 0.0


async def _fill(server: ServerProcess, token: str) -> None:
    client = Client(server, token)
    for number in range(N_TASKS // 10):
        document = {
            "name": f"busy-{number}",
            "command": "sleep 600",
            "count": 10,
            "memory": "16MB",
            "grace": "0s",
        }
        await client.call("POST", "/jobs", document)
    while (await client.call("GET", "/summary"))["jobs"]["RUNNING"] < N_TASKS // 10:
        await asyncio.sleep(0.1)
    client.close()


async def _stop(server: ServerProcess, token: str) -> None:
    client = Client(server, token)
    for number in range(N_TASKS // 10):
        await client.call("POST", f"/jobs/busy-{number}/stop")
    while sum((await client.call("GET", "/summary"))["jobs"].values()):
        await asyncio.sleep(0.1)
    client.close()
