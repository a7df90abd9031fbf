"""Platform: the store, the cluster and the other parts that all services work on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from footplate.domain.environment import BuiltEnvironment
from footplate.domain.estimate import Estimate, WouldBe
from footplate.domain.job import Job
from footplate.domain.mask import Mask
from footplate.domain.pricebook import PriceBook
from footplate.domain.prices import Prices
from footplate.domain.retention import Retention
from footplate.domain.states import Reason
from footplate.engines.base import Ran, Stream
from footplate.engines.router import Engines
from footplate.services.filing import Filing
from footplate.services.gitcode import Repositories
from footplate.services.jobids import JobIds
from footplate.services.storageroom import StorageRoom
from footplate.services.vault import Vault
from footplate.store.logfiles import NO_MASK
from footplate.store.shared import HoldsShared, Shared
from footplate.store.writer import Unit

T = TypeVar("T")


class Scheduler(Protocol):
    """The scheduler: what it takes in, and its view of the future."""

    async def enter(self, job: Job, unit: Unit[T]) -> T:
        """Run the unit that stores a new job; where there is room, the job starts in the same commit."""
        ...

    @property
    def order(self) -> Sequence[str]:
        """The ids of the jobs that wait, first to start first."""
        ...

    async def explain(self, job_ids: Iterable[str]) -> Mapping[str, tuple[Reason, int]]:
        """Why jobs wait, as their rows say by now, and how many are before each."""
        ...

    async def estimate(self, job_id: str) -> Estimate | None:
        """When a waiting job is expected to start."""
        ...

    async def dry_run(self, job: Job) -> WouldBe:
        """What a pass would make of a job that is not there yet: the engine's request, or why it waits."""
        ...


class Environments(Protocol):
    """The environments that the engines have built for jobs."""

    async def all(self) -> Sequence[BuiltEnvironment]: ...

    async def log_of(self, environment_id: str) -> str:
        """Read what the build of one printed; raise `NotFound`."""
        ...

    async def remove(self, environment_id: str) -> None:
        """Remove one; raise `NotFound`, or `Conflict` while it is built or a job uses it."""
        ...


class TaskStreams(Protocol):
    """Ways into tasks."""

    def run(
        self,
        job: Job,
        role: str,
        index: int,
        argv: Sequence[str],
        terminal: tuple[int, int] | None = None,
        errors_apart: bool = False,
    ) -> AbstractAsyncContextManager[Stream]:
        """Run a command in a task; whoever leaves ends it."""
        ...

    async def exec(
        self, job: Job, role: str, index: int, argv: Sequence[str], timeout_s: float, stdin: bytes = b""
    ) -> Ran:
        """Run a command in a task to its end, and keep what it writes."""
        ...

    def connect(self, job: Job, role: str, index: int, port: int) -> AbstractAsyncContextManager[Stream]:
        """Connect to a port at which a task listens."""
        ...


class Viewer(Protocol):
    """A program of the platform that shows what jobs have made."""

    def connect(self, port: int) -> AbstractAsyncContextManager[Stream]:
        """Connect to a port at which it listens."""
        ...

    async def exit_code(self) -> int | None:
        """Say how it ended; None while it runs."""
        ...


class Viewers(Protocol):
    """Programs that run beside jobs and after them, as the jobs' owner, and only read."""

    @property
    def shown(self) -> str:
        """Where they find what the jobs have made."""
        ...

    def new_id(self) -> str: ...

    def run(
        self, viewer_id: str, jobs: Sequence[Job], command: str, packages: Sequence[str], secret: str
    ) -> AbstractAsyncContextManager[Viewer]:
        """Run a command over the output of jobs of one person; whoever leaves ends it."""
        ...

    def last_words(self, viewer_id: str) -> str:
        """What a viewer printed last."""
        ...

    async def end_left(self) -> None:
        """End what an earlier server has begun, or this one, and could not end."""
        ...


async def _mask_nothing(_job: Job) -> Mask:
    return NO_MASK


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform(HoldsShared):
    """The surroundings of services, handed in once."""

    shared: Shared
    scheduler: Scheduler
    replan: Callable[[], None]
    engines: Engines
    streams: TaskStreams
    environments: Environments
    viewers: Viewers
    vault: Vault
    filing: Filing
    room: StorageRoom
    # Below which folders of the machine admins may add storages.
    storage_roots: Sequence[str] = ()
    repositories: Repositories = field(default_factory=lambda: Repositories(()))
    # What must not be read in the output of a job.
    mask_of: Callable[[Job], Awaitable[Mask]] = _mask_nothing
    retention: Retention = field(default_factory=Retention)
    job_ids: JobIds = field(default_factory=JobIds)
    # All prices that there have been, noted at the start.
    price_book: PriceBook = field(default_factory=PriceBook)

    @property
    def prices(self) -> Prices:
        """What things cost now."""
        return self.price_book.now
