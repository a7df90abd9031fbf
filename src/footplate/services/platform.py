"""What services work on, handed in once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from footplate.domain.clock import Clock
from footplate.domain.job import Job
from footplate.domain.spec import JobSpec
from footplate.domain.states import Reason
from footplate.store.blobs import Blobs
from footplate.store.cluster import Cluster
from footplate.store.store import Store


class Outlook(Protocol):
    """The scheduler's view of the future."""

    def explain(self, job_id: str) -> tuple[Reason, int] | None:
        """Why a job waits, and how many are before it."""
        ...

    def foresee(self, job: Job) -> tuple[Reason, dict[str, Any] | None]:
        """What a pass would say of a job that is not there yet: why it waits, or the engine's request."""
        ...


@dataclass(frozen=True, slots=True)
class Platform:
    store: Store
    cluster: Cluster
    blobs: Blobs
    clock: Clock
    home: Path
    outlook: Outlook
    replan: Callable[[], None]
    refuses: Callable[[JobSpec], str | None]
