"""Python stacks of the processes of tasks, taken with py-spy."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from footplate.engines.local.process.processes import PROC

DUMP_S = 10
AT_ONCE = 4
MOST_PROCESSES = 16
MOST_CHARACTERS = 20_000
NO_PYTHON = "no Python process runs in this task"
NO_SPY = "py-spy is not installed beside the server: pip install py-spy"


async def dump_stacks(tasks: Mapping[str, Sequence[int]]) -> dict[str, str]:
    """Show the stacks of the Python processes among these, task by task."""
    spy = find_spy()
    if spy is None:
        return dict.fromkeys(tasks, NO_SPY)
    turns = asyncio.Semaphore(AT_ONCE)
    texts = await asyncio.gather(*(_dump_task(spy, pids, turns) for pids in tasks.values()))
    return dict(zip(tasks, texts, strict=True))


def find_spy() -> str | None:
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy")


async def _dump_task(spy: str, pids: Sequence[int], turns: asyncio.Semaphore) -> str:
    snakes = await asyncio.to_thread(lambda: [pid for pid in pids if runs_python(pid)])
    if not snakes:
        return NO_PYTHON
    dumps = await asyncio.gather(*(_dump(spy, pid, turns) for pid in snakes[:MOST_PROCESSES]))
    if len(snakes) > MOST_PROCESSES:
        dumps.append(f"and {len(snakes) - MOST_PROCESSES} more Python processes")
    text = "\n\n".join(dumps)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}\n... (cut)"


def runs_python(pid: int) -> bool:
    """Tell whether a process is an interpreter, or has one in it."""
    try:
        if (PROC / str(pid) / "exe").readlink().name.startswith("python"):
            return True
        return "libpython" in (PROC / str(pid) / "maps").read_text(errors="replace")
    except OSError:
        return False


async def _dump(spy: str, pid: int, turns: asyncio.Semaphore) -> str:
    async with turns:
        process = await asyncio.create_subprocess_exec(
            spy,
            "dump",
            "--pid",
            str(pid),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(DUMP_S):
                output, complaint = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            return f"process {pid}: its stacks could not be read within {DUMP_S} s"
    if process.returncode == 0:
        return output.decode(errors="replace").strip()
    reason = complaint.decode(errors="replace").strip().splitlines() or ["py-spy failed"]
    return f"process {pid}: its stacks cannot be read: {reason[0]}"
