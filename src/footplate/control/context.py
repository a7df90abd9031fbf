"""Context: the store, the engine, the clock and the settings that all control loops share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field

from footplate.control.enginewaits import EngineWaits
from footplate.control.ports import Ports
from footplate.control.storagewatch import StorageWatch
from footplate.domain.errors import NotFound
from footplate.domain.job import Job
from footplate.domain.secret import RegistryLogin
from footplate.domain.storage import Storage
from footplate.engines.router import Engines
from footplate.scheduler.policy import Policy
from footplate.storages.base import Files
from footplate.store.shared import HoldsShared, Shared


async def _no_secrets(_job: Job) -> Mapping[str, str]:
    return {}


async def _nothing_hidden(_job: Job) -> Collection[str]:
    return ()


async def _no_login(_job: Job, name: str) -> RegistryLogin:
    raise NotFound("secret_unknown", secret=name)


async def _no_storage(_job: Job, name: str) -> tuple[Storage, Files]:
    raise NotFound("storage_not_visible", storage=name)


async def _has_room(_job: Job, _storage: Storage, _n_bytes: int) -> None:
    """Take it that there is room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(HoldsShared):
    """The surroundings of control, handed in once."""

    shared: Shared
    engines: Engines
    url: str = ""
    job_token: Callable[[str, int], str] = lambda _job_id, _attempt: ""
    policy: Policy = field(default_factory=Policy)
    ports: Ports = field(default_factory=Ports)
    secrets_of: Callable[[Job], Awaitable[Mapping[str, str]]] = _no_secrets
    hidden_of: Callable[[Job], Awaitable[Collection[str]]] = _nothing_hidden
    login_of: Callable[[Job, str], Awaitable[RegistryLogin]] = _no_login
    # A storage as the owner of a job sees it; whoever asks has looked whether the job may use it.
    open_storage: Callable[[Job, str], Awaitable[tuple[Storage, Files]]] = _no_storage
    # Raises `DiskFull` when a storage has no room for so many bytes more of a job's owner.
    require_room: Callable[[Job, Storage, int], Awaitable[None]] = _has_room
    waits: EngineWaits = field(default_factory=EngineWaits)
    storage_watch: StorageWatch = field(default_factory=StorageWatch)
