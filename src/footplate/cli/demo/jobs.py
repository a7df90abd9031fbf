"""The jobs of the demo: what each runs, asks for, and is there to show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from footplate.domain.states import JobState

PROGRAMS = Path(__file__).parent / "programs"
COLLEAGUE = "ada"
OUT_OF_MEMORY = "all-in-memory"
# What the address space of a program is bounded to where the machine enforces no limits of memory.
_ULIMIT_KB = 160 * 1024


@dataclass(frozen=True, slots=True)
class DemoJob:
    """A job to submit; `state` is the one that it is there to show."""

    fields: dict[str, Any]
    state: JobState
    is_of_colleague: bool = False


def jobs_for(n_cpus: float, limits_memory: bool) -> list[DemoJob]:
    """The jobs for a machine; all that run ask for one CPU together, so that they fit on any."""
    bound = "" if limits_memory else f"ulimit -v {_ULIMIT_KB} && "
    return [
        DemoJob(
            _job(
                "house-prices",
                "python3 prices.py",
                "Fits a model, writes it to the results and registers it",
                cpus=0.1,
                model={"name": "house-prices", "path": "model.json"},
            ),
            JobState.SUCCEEDED,
        ),
        DemoJob(
            _job("spirals", "python3 spirals.py", "A small network that tells two spirals apart"),
            JobState.RUNNING,
        ),
        DemoJob(
            _job(
                "zen-letters",
                "python3 letters.py",
                "Learns to write from the Zen of Python",
                time_limit="2h",
            ),
            JobState.RUNNING,
            is_of_colleague=True,
        ),
        DemoJob(_two_workers(), JobState.RUNNING),
        DemoJob(
            _job(
                OUT_OF_MEMORY,
                f"{bound}exec python3 hoard.py",
                "Loads more data than its memory limit allows",
                cpus=0.1,
                memory="96MB",
            ),
            JobState.FAILED,
            is_of_colleague=True,
        ),
        DemoJob(
            _job(
                "wide-spirals",
                "python3 spirals.py --width 64",
                "Asks for every CPU of the machine, so it waits",
                cpus=n_cpus,
            ),
            JobState.QUEUED,
        ),
    ]


def _job(name: str, command: str, description: str, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "command": command,
        "cpus": 0.2,
        "memory": "128MB",
        "time_limit": "1h",
        "tags": ["demo"],
        **fields,
    }


def _two_workers() -> dict[str, Any]:
    """A job of two tasks that start together and talk to each other."""
    role = {"name": "worker", "count": 2, "command": "python3 workers.py", "cpus": 0.2, "memory": "128MB"}
    return {
        "name": "two-workers",
        "description": "Two workers that average their gradients over TCP",
        "roles": [role],
        "priority": 5,
        "time_limit": "3h",
        "tags": ["demo", "distributed"],
    }
