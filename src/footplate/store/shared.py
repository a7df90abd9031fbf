"""The value that control and services share: the state of the platform, made once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from footplate.domain.clock import Clock
from footplate.domain.pauses import Pauses
from footplate.store.activity import Activity
from footplate.store.alertbook import AlertBook
from footplate.store.blobs import Blobs
from footplate.store.catalogue import Catalogue
from footplate.store.choices import Choices
from footplate.store.cluster import Cluster
from footplate.store.disk import Disk
from footplate.store.jobfiles import JobFiles
from footplate.store.logs import Logs
from footplate.store.metrics import Metrics
from footplate.store.modelfiles import ModelFiles
from footplate.store.people import People
from footplate.store.storages import Storages
from footplate.store.store import Store
from footplate.store.trackedruns import TrackedRuns
from footplate.store.usagefiles import UsageFiles


@dataclass(slots=True, kw_only=True)
class Tuned:
    """What admins change while the server runs; whoever needs it reads it anew each time."""

    trash_kept_s: float = 86400.0
    idle_limit_s: float | None = None
    pauses: Pauses = field(default_factory=Pauses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The parts that control and services work on."""

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
    disk: Disk = field(default_factory=lambda: Disk(Path("/")))
    tuned: Tuned = field(default_factory=Tuned)


class HoldsShared:
    """Has the shared value, and reaches its parts by their names."""

    __slots__ = ()
    shared: Shared

    @property
    def store(self) -> Store:
        return self.shared.store

    @property
    def cluster(self) -> Cluster:
        return self.shared.cluster

    @property
    def blobs(self) -> Blobs:
        return self.shared.blobs

    @property
    def clock(self) -> Clock:
        return self.shared.clock

    @property
    def home(self) -> Path:
        return self.shared.home

    @property
    def logs(self) -> Logs:
        return self.shared.logs

    @property
    def usage(self) -> UsageFiles:
        return self.shared.usage

    @property
    def files(self) -> JobFiles:
        return self.shared.files

    @property
    def images(self) -> Catalogue:
        return self.shared.images

    @property
    def choices(self) -> Choices:
        return self.shared.choices

    @property
    def people(self) -> People:
        return self.shared.people

    @property
    def metrics(self) -> Metrics:
        return self.shared.metrics

    @property
    def runs(self) -> TrackedRuns:
        return self.shared.runs

    @property
    def models(self) -> ModelFiles:
        return self.shared.models

    @property
    def activity(self) -> Activity:
        return self.shared.activity

    @property
    def alerts(self) -> AlertBook:
        return self.shared.alerts

    @property
    def storages(self) -> Storages:
        return self.shared.storages

    @property
    def disk(self) -> Disk:
        return self.shared.disk

    @property
    def tuned(self) -> Tuned:
        return self.shared.tuned
