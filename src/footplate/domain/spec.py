"""What a job asks for. Frozen values; `specfields` reads and writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from footplate.domain.resources import GIB, MIB, Resources, total

DEFAULT_QUEUE = "default"
DEFAULT_ROLE = "main"
DEFAULT_MILLI_CPUS = 1000
DEFAULT_MEMORY_BYTES = GIB
DEFAULT_SHM_BYTES = 64 * MIB
DEFAULT_GRACE_S = 10


@dataclass(frozen=True, slots=True)
class PortRange:
    """Ports that every task of a role gets; `begin_at` 0 lets the platform choose."""

    label: str
    begin_at: int = 0
    count: int = 1


def port_variable(label: str) -> str:
    """What the variables with the ports of a label end with."""
    return re.sub(r"[^A-Z0-9]", "_", label.upper())


@dataclass(frozen=True, slots=True)
class Completion:
    """When a role decides the whole job; None means that this count never does."""

    min_failed: int | None = 1
    min_succeeded: int | None = None


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """A group of equal tasks."""

    command: str
    name: str = DEFAULT_ROLE
    count: int = 1
    milli_cpus: int = DEFAULT_MILLI_CPUS
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    shm_bytes: int = DEFAULT_SHM_BYTES
    gpus: int = 0
    gpu_type: str = ""
    instance_type: str = ""
    image: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[PortRange, ...] = ()
    completion: Completion = Completion()
    task_retry: int = 0
    # The fields that its instance type has filled in.
    from_type: tuple[str, ...] = ()

    @property
    def resources(self) -> Resources:
        return Resources(self.milli_cpus, self.memory_bytes, self.gpus)


@dataclass(frozen=True, slots=True)
class Revision:
    """Which commit of a git repository code was, on which branch, and how it differed from that."""

    commit: str
    branch: str = ""
    is_dirty: bool = False
    # Of files that git knows and that were sent; cut where it is long.
    diff: str = ""


@dataclass(frozen=True, slots=True)
class CodeRef:
    """Where a job's code comes from: an upload by its digest, a path on a storage, a commit of a repository.

    What a repository had is kept as an upload. `revision` tells what the code was when it was sent.
    """

    upload: str = ""
    storage: str = ""
    path: str = ""
    read_only: bool = False
    git: str = ""
    commit: str = ""
    revision: Revision | None = None

    @property
    def is_read_only(self) -> bool:
        """Whether tasks may only read it; what lies on a storage belongs to others too."""
        return self.read_only or bool(self.storage)


@dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """Python packages of a job: what to install, or the path of an environment that exists.

    `requirements` is a file of the code, or the requirements themselves.
    """

    requirements: str | tuple[str, ...] = ""
    pyproject: str = ""
    conda: str = ""
    path: str = ""
    python: str = ""

    @property
    def file(self) -> str:
        """The file of the code that says what to install; empty where no file does."""
        listed = self.requirements if isinstance(self.requirements, str) else ""
        return listed or self.pyproject or self.conda


@dataclass(frozen=True, slots=True)
class DataMount:
    """Stored data that tasks see at a path."""

    path: str
    storage: str = ""
    source: str = ""
    read_only: bool = True


@dataclass(frozen=True, slots=True)
class Results:
    """Where results are kept, how often while the job runs, and whether checkpoints are too."""

    storage: str = ""
    path: str = ""
    every_s: int | None = None
    checkpoints: bool = False


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model to register when the job has succeeded: which of its files, and what is said of them."""

    name: str
    path: str = ""
    place: str = "output"
    framework: str = ""
    format: str = ""
    environment: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    shared: bool | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """Something to step into while the job runs."""

    kind: str
    role: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Alert:
    """Whom to tell about what, and how often."""

    on: str
    to: tuple[str, ...] = ()
    level: str = "info"
    after_s: int | None = None
    at: float | None = None
    every_s: int | None = None
    metric: str = ""
    above: float | None = None
    below: float | None = None


@dataclass(frozen=True, slots=True)
class FailureRule:
    """What to do about failures of a kind; a rule matches if everything that it names matches."""

    action: str
    exit_codes: tuple[int, ...] = ()
    signals: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    log: str = ""
    times: int = 3


@dataclass(frozen=True, slots=True)
class HangPolicy:
    """After how long without progress a job counts as hung, and what is then done."""

    after_s: int
    action: str = "notify"
    tasks: str = "any"


@dataclass(frozen=True, slots=True)
class JobSpec:
    """Everything a job asks for."""

    name: str
    roles: tuple[RoleSpec, ...]
    description: str = ""
    queue: str = DEFAULT_QUEUE
    priority: int = 0
    # Whether everybody in the queue may look into it; None leaves that to the queue.
    shared: bool | None = None
    image: str = ""
    image_credentials: str = ""
    framework: str = ""
    strategy: str = ""
    code: CodeRef | None = None
    environment: EnvironmentSpec | None = None
    data: tuple[DataMount, ...] = ()
    results: Results | None = None
    model: ModelSpec | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    services: tuple[Service, ...] = ()
    alerts: tuple[Alert, ...] = ()
    retry: int = 0
    time_limit_s: int | None = None
    deadline_at: float | None = None
    grace_s: int = DEFAULT_GRACE_S
    keep_on_failure_s: int | None = None
    on_failure: tuple[FailureRule, ...] = ()
    log_metrics: tuple[str, ...] = ()
    hang: HangPolicy | None = None
    idle_limit_s: int | None = None
    tags: tuple[str, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)
    # The fields that its framework has filled in.
    from_framework: tuple[str, ...] = ()

    @property
    def n_tasks(self) -> int:
        return sum(role.count for role in self.roles)

    @property
    def resources(self) -> Resources:
        return total(role.resources * role.count for role in self.roles)

    def role(self, name: str) -> RoleSpec:
        return next(role for role in self.roles if role.name == name)
