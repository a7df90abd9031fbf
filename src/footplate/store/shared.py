"""The parts that control and services share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from footplate.domain.clock import Clock
from footplate.domain.storage import Storage
from footplate.store.blobs import Blobs
from footplate.store.catalogue import Catalogue
from footplate.store.cluster import Cluster
from footplate.store.jobfiles import JobFiles
from footplate.store.logs import Logs
from footplate.store.people import People
from footplate.store.store import Store
from footplate.store.usagefiles import UsageFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The state of the platform, created once and shared by control and services."""

    store: Store
    cluster: Cluster
    blobs: Blobs
    clock: Clock
    home: Path
    logs: Logs
    usage: UsageFiles
    files: JobFiles
    images: Catalogue = field(default_factory=Catalogue)
    people: People = field(default_factory=People)
    storages: Mapping[str, Storage] = field(default_factory=dict)

    def parts(self) -> dict[str, Any]:
        """Name all that is shared, for a value that has more."""
        return {one.name: getattr(self, one.name) for one in fields(Shared)}
