"""What an operator may declare about the machine of the local engine."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.cluster import Gpu


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """None means: as detected. `inherited_env` names more variables of the server that tasks get."""

    node_name: str = ""
    address: str = "127.0.0.1"
    milli_cpus: int | None = None
    memory_bytes: int | None = None
    gpus: tuple[Gpu, ...] | None = None
    inherited_env: tuple[str, ...] = ()
