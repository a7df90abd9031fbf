"""The engine of this machine, made as the settings say."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from footplate.domain.storage import Storage
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.machine.settings import LocalSettings
from footplate.server.settings import Settings
from footplate.store.blobs import Blobs


def local_engine(
    settings: Settings, home_identity: str = "", storages: Mapping[str, Storage] = MappingProxyType({})
) -> LocalEngine:
    node = settings.node
    return LocalEngine(
        LocalSettings(
            home=settings.home,
            node_name=node.name,
            address=node.address,
            milli_cpus=node.milli_cpus,
            memory_bytes=node.memory_bytes,
            gpus=node.declared_gpus(),
            limits=settings.limits,
            n_processes=node.n_processes,
            containers=settings.containers,
            mounted_within_s=settings.storage_timeout_s,
            accounts=settings.accounts,
            home_id=home_identity,
            storages=storages,
            find_code=Blobs(settings.home).path,
            data=settings.data,
            environments=settings.environments,
        )
    )
