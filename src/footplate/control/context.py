"""What the loops of control share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from footplate.control.ports import Ports
from footplate.domain.clock import Clock
from footplate.engines.base import Engine
from footplate.scheduler.policy import Policy
from footplate.store.blobs import Blobs
from footplate.store.cluster import Cluster
from footplate.store.store import Store


@dataclass(frozen=True, slots=True)
class Context:
    """The surroundings of control, handed in once."""

    store: Store
    cluster: Cluster
    blobs: Blobs
    engine: Engine
    clock: Clock
    home: Path
    url: str = ""
    job_token: Callable[[str, int], str] = lambda _job_id, _attempt: ""
    policy: Policy = field(default_factory=Policy)
    ports: Ports = field(default_factory=Ports)
