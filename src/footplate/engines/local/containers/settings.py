"""Settings for containers."""

from __future__ import annotations

from dataclasses import dataclass

HOST_NETWORK = "host"


@dataclass(frozen=True, slots=True)
class ContainerSettings:
    """An empty `socket` means: find one; an empty `user` means: as the server itself."""

    socket: str = ""
    network: str = HOST_NETWORK
    user: str = ""
