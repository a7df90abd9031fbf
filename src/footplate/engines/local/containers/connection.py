"""The connection to whichever container engine this machine has, found again when it went away."""

from __future__ import annotations

from pathlib import Path

from footplate.domain.errors import EngineUnavailable
from footplate.domain.messages import Message
from footplate.engines.local.containers.api import ContainerApi, Document
from footplate.engines.local.containers.finding import find_socket, why_none


class Connection:
    """Holds one client for the engine's socket; an engine that comes later is found later."""

    def __init__(self, declared: str) -> None:
        self._declared = declared
        self._socket: Path | None = None
        self._api: ContainerApi | None = None
        self._info: Document | None = None

    def why_none(self) -> Message | None:
        """Say that there is no engine and how to get one; None when there is one."""
        return why_none(self._declared) if find_socket(self._declared) is None else None

    async def api(self) -> ContainerApi:
        # The one that was found first keeps our containers: others are looked for only when it is gone.
        socket = self._socket if self._socket and self._socket.exists() else find_socket(self._declared)
        if socket is None:
            raise EngineUnavailable(why_none(self._declared))
        if self._api is None or socket != self._socket:
            await self.close()
            self._socket, self._api = socket, ContainerApi(socket)
        return self._api

    async def info(self) -> Document:
        """Say what the engine can do; asked once for each engine."""
        api = await self.api()
        if self._info is None:
            self._info = await api.info()
        return self._info

    async def close(self) -> None:
        api, self._api, self._info = self._api, None, None
        if api is not None:
            await api.close()
