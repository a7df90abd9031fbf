"""The parts that control and services share."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from footplate.domain.clock import Clock
from footplate.store.activity import Activity
from footplate.store.alertbook import AlertBook
from footplate.store.blobs import Blobs
from footplate.store.catalogue import Catalogue
from footplate.store.choices import Choices
from footplate.store.cluster import Cluster
from footplate.store.jobfiles import JobFiles
from footplate.store.logs import Logs
from footplate.store.metrics import Metrics
from footplate.store.modelfiles import ModelFiles
from footplate.store.people import People
from footplate.store.storages import Storages
from footplate.store.store import Store
from footplate.store.trackedruns import TrackedRuns
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
    choices: Choices = field(default_factory=Choices)
    people: People = field(default_factory=People)
    metrics: Metrics = field(default_factory=lambda: Metrics(Path("/")))
    runs: TrackedRuns = field(default_factory=lambda: TrackedRuns(Path("/")))
    models: ModelFiles = field(default_factory=lambda: ModelFiles(Path("/")))
    activity: Activity = field(default_factory=Activity)
    alerts: AlertBook = field(default_factory=AlertBook)
    storages: Storages = field(default_factory=lambda: Storages(Path("/"), {}))

    def parts(self) -> dict[str, Any]:
        """Name all that is shared, for a value that has more."""
        return {one.name: getattr(self, one.name) for one in fields(Shared)}
