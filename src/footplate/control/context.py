"""Context: the store, the engine, the clock and the settings that all control loops share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from footplate.control.enginewaits import EngineWaits
from footplate.control.ports import Ports
from footplate.control.storagewatch import StorageWatch
from footplate.domain.errors import NotFound
from footplate.domain.job import Job
from footplate.domain.pauses import Pauses
from footplate.domain.secret import RegistryLogin
from footplate.engines.router import Engines
from footplate.scheduler.policy import Policy
from footplate.store.shared import Shared


async def _no_secrets(_job: Job) -> Mapping[str, str]:
    return {}


async def _no_login(_job: Job, name: str) -> RegistryLogin:
    raise NotFound("secret_unknown", secret=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Shared):
    """The surroundings of control, handed in once."""

    engines: Engines
    url: str = ""
    job_token: Callable[[str, int], str] = lambda _job_id, _attempt: ""
    policy: Policy = field(default_factory=Policy)
    ports: Ports = field(default_factory=Ports)
    secrets_of: Callable[[Job], Awaitable[Mapping[str, str]]] = _no_secrets
    login_of: Callable[[Job, str], Awaitable[RegistryLogin]] = _no_login
    trash_kept_s: float = 86400.0
    idle_limit_s: float | None = None
    pauses: Pauses = field(default_factory=Pauses)
    waits: EngineWaits = field(default_factory=EngineWaits)
    storage_watch: StorageWatch = field(default_factory=StorageWatch)
