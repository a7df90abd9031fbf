"""The seam between the platform and what runs tasks.

An engine keeps these guarantees, each checked by the contract suite in `footplate.testing.contract`:

1. `launch` twice with one attempt id starts every task once;
2. `stop` of an unknown attempt is silent, and after `stop` returns nothing of the attempt is left
   running, not even processes that left their group;
3. `observe` says LOST only for what was once started and can no longer be found;
4. no method blocks for the length of a job;
5. an attempt is known by its id alone, also after a restart of the server: tasks are adopted again, exit
   codes included;
6. resources asked are resources given, as far as `capabilities.limits` says that this engine can hold them,
   and a task that was killed because it used up its memory is reported as that, with limit and peak.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Container, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypedDict, runtime_checkable

from typing_extensions import ReadOnly

from footplate.domain.attempt import Attempt, TaskRun
from footplate.domain.cluster import Node, Placement, TaskPlacement, Whereabouts
from footplate.domain.environment import BuiltEnvironment
from footplate.domain.errors import Problem
from footplate.domain.messages import Message
from footplate.domain.secret import RegistryLogin
from footplate.domain.spec import JobSpec
from footplate.domain.states import Reason, TaskState
from footplate.domain.storage import IN_OWN_FOLDERS, ResultVolumes, Storage, Volume
from footplate.engines.usage import NodeUsage, Usage
from footplate.storages.base import Files

Limit = Literal["cpus", "memory", "shm", "processes", "gpus", "files", "isolation", "accounts"]
Cause = Literal["", "oom", "tampered"]
# What an engine may choose by itself when it starts a task; the scheduler chooses all else.
Choice = Literal["nodes", "cards", "ports"]
EVERYTHING: frozenset[Choice] = frozenset({"nodes", "cards", "ports"})


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do for any job: a value, which services check without asking the engine.

    `no_images` says why no task can run in an image, `no_mounts` why data cannot be mounted for tasks that do
    not; None when they can. `limits` names what a task is really held to: of the rest it may take more than
    it asked for. `streams` says whether commands can be run in tasks, and their ports be reached. `stages`
    says whether volumes that are `staged` are brought to tasks (`StagesData`). `views` says whether programs
    of the platform can be launched beside jobs, over the output of jobs (`Volume.of_job`), at once.
    """

    no_images: Message | None = None
    no_mounts: Message | None = None
    limits: frozenset[Limit] = frozenset()
    chooses: frozenset[Choice] = frozenset()
    streams: bool = False
    stages: bool = False
    views: bool = False

    @property
    def places_itself(self) -> bool:
        """Whether jobs are handed over whole, for the engine's own scheduler to place."""
        return "nodes" in self.chooses


class TaskRequest(TypedDict):
    """What every engine says of one task that it is to start."""

    role: ReadOnly[str]
    index: ReadOnly[int]


class Request(TypedDict):
    """What every engine's request says; engines add what else they need, all of it JSON.

    Tasks that are taken out are not launched.
    """

    attempt_id: ReadOnly[str]
    tasks: ReadOnly[Sequence[TaskRequest]]


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """All that an engine needs to know to start one attempt of a job.

    Nothing in it is a path of the server: code goes by its digest or a storage (`spec.code`), data by
    `volumes`, output and checkpoints by `results`. Where tasks see any of it is the engine's to say
    (`Engine.paths`).
    """

    job_id: str
    owner: str
    attempt: int
    spec: JobSpec
    placement: Placement
    # Which of all people the owner is: engines derive accounts of the machine from it.
    owner_number: int = 0
    url: str = ""
    token: str = ""
    # How often tasks were started again by themselves; those that never were are left out.
    runs: Mapping[tuple[str, int], int] = field(default_factory=dict)
    # Variables of every task that no description of the launch may show.
    secrets: Mapping[str, str] = field(default_factory=dict)
    volumes: tuple[Volume, ...] = ()
    results: ResultVolumes = IN_OWN_FOLDERS
    # Folders of the tasks' machine, such as virtual environments, that stand in for images.
    environments: Mapping[str, str] = field(default_factory=dict)

    @property
    def attempt_id(self) -> str:
        return f"{self.job_id}.{self.attempt}"

    @property
    def name(self) -> Attempt:
        """What the launch starts, as it is observed and stopped later."""
        runs, tasks = self.runs, self.placement.tasks
        named = (TaskRun(task.role, task.index, runs.get((task.role, task.index), 0)) for task in tasks)
        return Attempt(self.job_id, self.attempt, tuple(named))


@dataclass(frozen=True, slots=True)
class TaskPaths:
    """Where a task sees things; `strategy` has the files of a strategy, the same for the whole gang."""

    work: str
    checkpoints: str
    output: str
    notice: str
    strategy: str


@dataclass(frozen=True, slots=True)
class Notice:
    """What a task is told that is about to be stopped: why, how long it has, whether it will run again."""

    reason: str
    message: str
    at: str
    grace_s: float
    will_run_again: bool


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
    detail: Message | None = None
    run: int = 0
    cause: Cause = ""
    limit_bytes: int | None = None
    peak_bytes: int | None = None
    # What the engine has chosen for the task by itself, once it runs.
    where: Whereabouts | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """Something that a launch is at, or has done, and how long it has taken."""

    attempt_id: str
    name: str
    said: Message
    seconds: float
    is_done: bool


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
    def capabilities(self) -> Capabilities:
        """Say what the engine can do now; cheap, and never asks anybody else."""
        ...

    def compile(self, plan: LaunchPlan) -> Request:
        """Turn a plan into the exact request that `launch` sends and a dry run prints, as JSON."""
        ...

    def refuses(self, spec: JobSpec, environments: Mapping[str, str]) -> Problem | None:
        """Say why a job can never run here, as only the engine knows; None when nothing speaks against it.

        What `capabilities` rule out is not asked. `environments` are the local folders that stand in for
        images in the job's queue.
        """
        ...

    def paths(self, plan: LaunchPlan, task: TaskPlacement) -> TaskPaths:
        """Say where a task sees its folders and files."""
        ...

    async def launch(self, request: Request) -> None:
        """Start every task of the attempt that does not run yet; raise an `EngineError` when that fails.

        `OutcomeUnknown` means that some tasks may have started, `EngineAway` that no job can be started now:
        it is tried again when the engine answers, and counts as no failure of the job.
        """
        ...

    async def observe(self, attempts: Sequence[Attempt]) -> Sequence[Observation]:
        """Say how every task of these attempts stands."""
        ...

    async def stop(self, attempt: Attempt, grace_s: float, notice: Notice | None = None) -> None:
        """End the attempt: politely, after `grace_s` by force.

        Tasks that run find the notice before they are asked to end. A later launch of the same attempt starts
        nothing.
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


@dataclass(frozen=True, slots=True)
class Wait:
    """How an attempt waits for its start in an engine that places by itself, as far as the engine says."""

    attempt_id: str
    reason: Reason
    ahead: int | None = None
    expected_at: float | None = None


@runtime_checkable
class PlacesItself(Protocol):
    """An engine with a scheduler of its own: `launch` puts an attempt into its queue, whole.

    Its capabilities say that it chooses nodes. Until it starts them, tasks are seen as WAITING; what it has
    chosen for a task comes with the first observation of the running task (`Observation.where`).
    """

    async def waits(self, attempts: Sequence[Attempt]) -> Sequence[Wait]:
        """Say how these attempts wait; those that do not are left out."""
        ...


@runtime_checkable
class ChecksPorts(Protocol):
    def is_port_free(self, node: str, port: int) -> bool:
        """Tell at once whether nobody listens on a port of a node; ports of other engines count as free."""
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
class BuildsEnvironments(Protocol):
    """An engine that installs what `spec.environment` asks for, as a step of the launch, and keeps it.

    An environment is shared by the jobs of one person only: what its build ran was that person's choice.
    A launch whose environment cannot be built is rejected, with the last words of the build.
    """

    async def environments(self, known_attempts: Container[str]) -> Sequence[BuiltEnvironment]:
        """Say which environments there are, and which of these attempts use them."""
        ...

    async def environment_log(self, environment_id: str) -> str:
        """Read what the build of an environment printed, without passwords, of a long one the end.

        Empty where nothing was printed or kept; raise `NotFound` for an environment that is not there.
        """
        ...

    async def remove_environment(self, environment_id: str, known_attempts: Container[str]) -> None:
        """Remove one; raise `NotFound`, or `Conflict` while it is built or one of these attempts uses it."""
        ...

    async def sweep_environments(self, known_attempts: Container[str]) -> None:
        """Remove those that nobody has used for long, and the oldest while all take more than they may."""
        ...


# Asked with an attempt and the name of a storage: the storage as the attempt's owner sees it. Raises
# `EngineRejected` when the attempt may not read it.
FindStorage = Callable[[str, str], Awaitable[tuple[Storage, Files]]]


@runtime_checkable
class StagesData(Protocol):
    """An engine that brings volumes that are `staged` to where tasks read them, as a step of the launch.

    Credentials of storages are in no request: the engine asks for the storage when it needs it, each attempt
    anew, so that nobody is given a copy that somebody else was allowed to make.
    """

    def use_storages(self, find: FindStorage) -> None: ...

    async def sweep_staged(self, known_attempts: Container[str]) -> None:
        """Remove copies that nobody has used for long, and the oldest while all take more than they may."""
        ...


@runtime_checkable
class ReadsUsage(Protocol):
    async def usage(self, attempts: Sequence[Attempt]) -> Sequence[Usage]:
        """Say what the running tasks of these attempts use; the others are left out."""
        ...


@runtime_checkable
class ReadsNodeUsage(Protocol):
    async def node_usage(self) -> Sequence[NodeUsage]:
        """Say what is used of each node; those that do not answer are left out."""
        ...


@runtime_checkable
class FollowsLogs(Protocol):
    """An engine whose tasks print elsewhere than into the store of the logs."""

    def follow(self, attempt: Attempt, task: TaskRun, offset: int) -> AsyncIterator[bytes]:
        """Yield what a run of a task prints, from an offset on, until it has ended and all was told."""
        ...


class Stream(Protocol):
    """Bytes both ways between somebody here and a command in a task, or a port of a task."""

    async def read(self) -> bytes:
        """Wait for what comes next; empty at the end."""
        ...

    async def read_errors(self) -> bytes:
        """Wait for what comes next on standard error, where that was asked for apart; empty at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Send; what nobody reads any more is dropped."""
        ...

    async def end_input(self) -> None:
        """Say that nothing more will be sent."""
        ...

    async def resize(self, rows: int, columns: int) -> None:
        """Change the size of the command's terminal, if it has one."""
        ...

    async def wait(self) -> int:
        """Wait for the end; the result is the exit code of a command, 0 for a port."""
        ...


@runtime_checkable
class OpensStreams(Protocol):
    def exec(
        self,
        request: Request,
        role: str,
        index: int,
        argv: Sequence[str],
        terminal: tuple[int, int] | None = None,
        errors_apart: bool = False,
    ) -> AbstractAsyncContextManager[Stream]:
        """Run a command where a task runs or ran: its variables, folder, files and limits.

        The request is the one that the attempt was launched with, or the same compiled again: only that has
        the variables of a task that is kept after its end. Standard output and error come together,
        unless they are asked for apart: then both must be read.
        `terminal` is the size, in rows and columns, of the terminal that the command is given, if any.
        Whoever leaves the stream ends the command. Raises `NotFound` for a task that never started, and
        `Conflict` for one that is stopped, or that ended and is not kept: no command outlives the stop of
        its task.
        """
        ...

    def connect(self, attempt: Attempt, task: TaskRun, port: int) -> AbstractAsyncContextManager[Stream]:
        """Connect to a port at which a task listens; raise `EngineUnavailable` when nobody does."""
        ...


@runtime_checkable
class DumpsStacks(Protocol):
    async def stacks(self, attempt: Attempt) -> Mapping[str, str]:
        """Show what every Python process of every running task is doing, by task (`worker-0`).

        A task without any, or one that cannot be looked into, has a sentence that says so.
        """
        ...
