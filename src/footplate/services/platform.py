"""Platform: the store, the cluster and the other parts that all services work on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from footplate.domain.environment import BuiltEnvironment
from footplate.domain.estimate import Estimate, WouldBe
from footplate.domain.job import Job
from footplate.domain.mask import Mask
from footplate.domain.states import Reason
from footplate.engines.base import Ran
from footplate.engines.router import Engines
from footplate.services.vault import Vault
from footplate.store.disk import Disk
from footplate.store.logfiles import NO_MASK
from footplate.store.shared import Shared
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

    async def remove(self, environment_id: str) -> None:
        """Remove one; raise `NotFound`, or `Conflict` while a job uses it."""
        ...


async def _mask_nothing(_job: Job) -> Mask:
    return NO_MASK


ExecInTask = Callable[[Job, str, int, Sequence[str], float, bytes], Awaitable[Ran]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform(Shared):
    """The surroundings of services, handed in once."""

    scheduler: Scheduler
    replan: Callable[[], None]
    engines: Engines
    exec_in_task: ExecInTask
    environments: Environments
    vault: Vault
    # What must not be read in the output of a job.
    mask_of: Callable[[Job], Awaitable[Mask]] = _mask_nothing
    disk: Disk = field(default_factory=lambda: Disk(Path("/")))
