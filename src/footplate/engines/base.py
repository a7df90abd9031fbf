"""The seam between the platform and what runs tasks.

An engine keeps these guarantees, each checked by the contract suite in `footplate.testing.contract`:

1. `launch` twice with one attempt id starts every task once;
2. `stop` of an unknown handle is silent, and after `stop` returns nothing of the attempt is left
   running, not even processes that left their group;
3. `observe` says LOST only for what was once started and can no longer be found;
4. no method blocks for the length of a job;
5. a handle is JSON and survives a restart of the server: tasks are adopted again, exit codes included;
6. resources asked are resources given, as far as `limits` says that this engine can hold them, and a task
   that was killed because it used up its memory is reported as that, with limit and peak.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from footplate.domain.cluster import Node, Placement, TaskPlacement
from footplate.domain.errors import Problem
from footplate.domain.layout import task_folder, work_folder
from footplate.domain.secret import RegistryLogin
from footplate.domain.spec import JobSpec
from footplate.domain.states import TaskState

Handle = Mapping[str, Any]
Request = Mapping[str, Any]
Limit = Literal["cpus", "memory", "shm", "processes", "gpus", "files", "isolation", "accounts"]
Cause = Literal["", "oom", "tampered"]


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or folder of the host that tasks find at a path of their own.

    `inner` is what is meant below the source; links on the way to it may not lead out of the source.
    `is_fixed` says that no task can change what lies on the way meanwhile.
    """

    source: Path
    target: Path
    read_only: bool = True
    inner: str = ""
    is_fixed: bool = True


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """All that an engine needs to know to start one attempt of a job."""

    job_id: str
    owner: str
    attempt: int
    spec: JobSpec
    placement: Placement
    folder: Path
    # Which of all people the owner is: engines derive accounts of the machine from it.
    owner_number: int = 0
    # What is HOME for all tasks of the owner.
    person_folder: Path | None = None
    code_folder: Path | None = None
    # Then tasks work in the code folder itself, where the code is mounted.
    code_is_read_only: bool = False
    checkpoint_folder: Path | None = None
    output_folder: Path | None = None
    url: str = ""
    token: str = ""
    # How often tasks were started again by themselves; those that never were are left out.
    runs: Mapping[tuple[str, int], int] = field(default_factory=dict)
    # Variables of every task that no description of the launch may show.
    secrets: Mapping[str, str] = field(default_factory=dict)
    # What every task of the job finds at other paths than the host has it.
    mounts: tuple[Mount, ...] = ()
    # Local folders, such as virtual environments, that stand in for images.
    environments: Mapping[str, str] = field(default_factory=dict)

    @property
    def attempt_id(self) -> str:
        return f"{self.job_id}.{self.attempt}"

    def work_folder(self, task: TaskPlacement) -> Path:
        """Name the folder that a task starts in."""
        if self.code_is_read_only and self.code_folder is not None:
            return self.code_folder
        return work_folder(task_folder(self.folder, task.role, task.index))


@dataclass(frozen=True, slots=True)
class Observation:
    """What an engine sees of one task; an EXITED one has an exit code.

    `cause` says why it ended where that is more than its exit code: "oom" when the kernel killed a process
    of it because the task had used up its memory; `limit_bytes` and `peak_bytes` are the numbers to that.
    A LOST one is "tampered" when it has spoilt its own records: that is the job's own failure.
    """

    attempt_id: str
    role: str
    index: int
    state: TaskState
    exit_code: int | None = None
    started_at: float | None = None
    finished_at: float | None = None
    detail: str = ""
    run: int = 0
    cause: Cause = ""
    limit_bytes: int | None = None
    peak_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """Something that a launch is at, or has done, and how long it has taken."""

    attempt_id: str
    name: str
    message: str
    seconds: float
    is_done: bool


@dataclass(frozen=True, slots=True)
class CardUsage:
    """How busy one card is, by all that runs on it: 0 to 1, and the memory taken."""

    index: int
    utilisation: float
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What one running task uses; amounts that only grow count from its start. None: cannot be read."""

    attempt_id: str
    role: str
    index: int
    run: int
    at: float
    cpu_s: float
    memory_bytes: int
    peak_bytes: int | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    n_processes: int | None = None
    cards: tuple[CardUsage, ...] = ()


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command that was run inside a task ended; the output may be cut at its end."""

    exit_code: int
    output: bytes
    is_cut: bool = False
    timed_out: bool = False


class Engine(Protocol):
    """What every engine can do."""

    @property
    def limits(self) -> frozenset[Limit]:
        """Name what a task is really held to; of the rest it may take more than it asked for."""
        ...

    def compile(self, plan: LaunchPlan) -> Request:
        """Turn a plan into the exact request that `launch` sends and a dry run prints, as JSON.

        Its `tasks` are a list, each with `role` and `index`; those that are taken out are not launched.
        Always succeeds: what cannot be run is refused by `launch`.
        """
        ...

    def refuses(self, spec: JobSpec, environments: Mapping[str, str]) -> Problem | None:
        """Say why a job can never run here, wherever it is placed; None when nothing speaks against it.

        `environments` are the local folders that stand in for images in the job's queue.
        """
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

    def handle_of(self, request: Request, only: Collection[tuple[str, int]] | None = None) -> Handle:
        """Name what a request would start, so that it can be observed or stopped after a crash.

        With `only`, it names just those tasks, by role and index.
        """
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


@runtime_checkable
class TellsSteps(Protocol):
    def on_step(self, tell: Callable[[Step], None]) -> None:
        """Call `tell` on the event loop for each step of a launch, and for its progress now and then."""
        ...


@runtime_checkable
class AbandonsLaunches(Protocol):
    def abandon(self, attempt_id: str) -> None:
        """Fetch nothing more for an attempt that is to be stopped: a launch that waits for it fails."""
        ...


@runtime_checkable
class PullsImages(Protocol):
    def use_logins(self, find: Callable[[str, str], Awaitable[RegistryLogin]]) -> None:
        """Ask `find(attempt_id, secret_name)` when a job's image has to be pulled with a stored login.

        The login goes to the registry and nowhere else: it is in no request, record or log.
        """
        ...

    async def sweep(self, known_attempts: Container[str]) -> None:
        """Remove what is left of attempts that this server made and no longer knows.

        Looks up what is known only after it has found something: attempts may begin meanwhile.
        """
        ...


@runtime_checkable
class ReadsUsage(Protocol):
    async def usage(self, handles: Sequence[Handle]) -> Sequence[Usage]:
        """Say what the running tasks of these attempts use; the others are left out."""
        ...


@runtime_checkable
class RunsInside(Protocol):
    async def run_inside(
        self,
        request: Request,
        role: str,
        index: int,
        argv: Sequence[str],
        timeout_s: float = 60,
        most_bytes: int = 1024**2,
    ) -> Ran:
        """Run a command where a task runs or ran: its variables, folder, files and limits.

        The request is the one that the attempt was launched with, or the same compiled again. Standard
        output and error come together. A command that takes longer than `timeout_s` is ended, with exit
        code 124. Raises `NotFound` for a task that never started, and `Conflict` for one that is stopped, or
        that ended and is not kept: no command outlives the stop of its task.
        """
        ...


@runtime_checkable
class DumpsStacks(Protocol):
    async def stacks(self, handle: Handle) -> Mapping[str, str]:
        """Show what every Python process of every running task is doing, by task (`worker-0`).

        A task without any, or one that cannot be looked into, has a sentence that says so.
        """
        ...
