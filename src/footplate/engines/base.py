"""The seam between the platform and what runs tasks.

An engine keeps these guarantees, each checked by the contract suite in `footplate.testing.contract`:

1. `launch` twice with one attempt id starts every task once;
2. `stop` of an unknown handle is silent, and after `stop` returns nothing of the attempt is left
   running, not even processes that left their group;
3. `observe` says LOST only for what was once started and can no longer be found;
4. no method blocks for the length of a job;
5. a handle is JSON and survives a restart of the server: tasks are adopted again, exit codes included;
6. resources asked are resources given, as far as `limits` says that this engine can hold them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from footplate.domain.cluster import Node, Placement
from footplate.domain.spec import JobSpec
from footplate.domain.states import TaskState

Handle = Mapping[str, Any]
Request = Mapping[str, Any]
Limit = Literal["cpus", "memory", "shm", "gpus"]


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """All that an engine needs to know to start one attempt of a job."""

    job_id: str
    owner: str
    attempt: int
    spec: JobSpec
    placement: Placement
    folder: Path
    code_folder: Path | None = None
    checkpoint_folder: Path | None = None
    output_folder: Path | None = None
    url: str = ""
    token: str = ""
    # How often tasks were started again by themselves; those that never were are left out.
    runs: Mapping[tuple[str, int], int] = field(default_factory=dict)

    @property
    def attempt_id(self) -> str:
        return f"{self.job_id}.{self.attempt}"


@dataclass(frozen=True, slots=True)
class Observation:
    """What an engine sees of one task; an EXITED one has an exit code."""

    attempt_id: str
    role: str
    index: int
    state: TaskState
    exit_code: int | None = None
    started_at: float | None = None
    finished_at: float | None = None
    detail: str = ""
    run: int = 0


class Engine(Protocol):
    """What every engine can do."""

    @property
    def limits(self) -> frozenset[Limit]:
        """Name what a task is really held to; of the rest it may take more than it asked for."""
        ...

    def compile(self, plan: LaunchPlan) -> Request:
        """Turn a plan into the exact request that `launch` sends and a dry run prints, as JSON.

        Always succeeds: what cannot be run is refused by `launch`.
        """
        ...

    def refuses(self, spec: JobSpec) -> str | None:
        """Say why a job can never run here, wherever it is placed; None when nothing speaks against it."""
        ...

    async def launch(self, request: Request) -> Handle:
        """Start every task of the attempt that does not run yet; raise an `EngineError` when that fails.

        `OutcomeUnknown` means that some tasks may have started.
        """
        ...

    async def observe(self, handles: Sequence[Handle]) -> Sequence[Observation]:
        """Say how every task of these attempts stands."""
        ...

    async def stop(self, handle: Handle, grace_s: float) -> None:
        """End the attempt: politely, after `grace_s` by force.

        A later launch of the same attempt starts nothing.
        """
        ...

    def handle_of(self, request: Request) -> Handle:
        """Name what a request would start, so that it can be observed or stopped after a crash."""
        ...

    async def close(self) -> None:
        """Let go of what the engine holds; tasks go on."""
        ...


@runtime_checkable
class OffersNodes(Protocol):
    async def nodes(self) -> Sequence[Node]:
        """Say which machines there are and what they have."""
        ...


@runtime_checkable
class GivesHints(Protocol):
    def on_change(self, tell: Callable[[str], None]) -> None:
        """Call `tell(attempt_id)` on the event loop soon after a task of that attempt changes."""
        ...
