"""Settings of the local engine's machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from footplate.domain.cluster import Gpu
from footplate.domain.storage import Storage
from footplate.engines.local.code import FindCode
from footplate.engines.local.confine.accounts import Accounts
from footplate.engines.local.containers.settings import ContainerSettings
from footplate.engines.local.data.settings import DataSettings
from footplate.engines.local.environments.settings import EnvironmentSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSettings:
    """None means: as detected. `inherited_env` names more variables of the server that tasks get.

    `home` is the server's folder: the files of tasks lie in it, and a task sees its own job only; `home_id`
    tells it from a copy. `find_code` says where an upload lies, by its digest.
    `gpu_nodes` are the device files of each declared card. Without `limits` tasks are not held to what they
    asked for, nor is anything hidden. `mounted_within_s` bounds how long the file systems of mounts may take
    to answer. `accounts` says as whom tasks run where the server is root. `is_native` says whether tasks are
    begun by the program that was built for that, where there is one.
    """

    home: Path
    node_name: str = ""
    address: str = "127.0.0.1"
    milli_cpus: int | None = None
    memory_bytes: int | None = None
    gpus: tuple[Gpu, ...] | None = None
    inherited_env: tuple[str, ...] = ()
    home_id: str = ""
    limits: bool = True
    n_processes: int = 4096
    gpu_nodes: tuple[tuple[str, ...], ...] = ()
    containers: ContainerSettings = field(default_factory=ContainerSettings)
    mounted_within_s: float = 30.0
    accounts: Accounts = field(default_factory=Accounts)
    storages: Mapping[str, Storage] = field(default_factory=dict)
    find_code: FindCode = lambda _digest: None
    is_native: bool = True
    data: DataSettings = field(default_factory=DataSettings)
    environments: EnvironmentSettings = field(default_factory=EnvironmentSettings)
