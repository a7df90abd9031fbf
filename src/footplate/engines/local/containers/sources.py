"""Finds what of storages is mounted into containers, without waiting for ever for one that hangs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from weakref import WeakValueDictionary

from footplate.domain.errors import EngineRejected, EngineUnavailable
from footplate.domain.messages import say
from footplate.engines.local.confine.mounting import LASTING
from footplate.engines.local.exchange import LocalRequest, Mount
from footplate.machine.probe_client import Asker

MOST_AT_ONCE = 4


class Sources:
    """Resolves paths on storages; jobs that wait for one storage do not delay the others."""

    def __init__(self, home: Path | None, within_s: float) -> None:
        self._home = home
        self.within_s = within_s
        self._askers: dict[str, Asker] = {}
        # Of whatever has nothing to do with storages.
        self.room = asyncio.Semaphore(MOST_AT_ONCE)
        self._rooms: WeakValueDictionary[tuple[str, ...], asyncio.Semaphore] = WeakValueDictionary()

    def room_for(self, request: LocalRequest) -> asyncio.Semaphore:
        """Hand out what bounds how many containers are made at once: of those with the same storages."""
        key = tuple(sorted({mount["source"] for mount in self._foreign(request)}))
        room = self._rooms.get(key) if key else self.room
        if room is None:
            room = self._rooms[key] = asyncio.Semaphore(MOST_AT_ONCE)
        return room

    def has_foreign(self, request: LocalRequest) -> bool:
        return any(self._foreign(request))

    async def resolve(self, request: LocalRequest) -> LocalRequest:
        """Put in the place of each path on a storage where it leads."""
        if not any(mount["inner"] for mount in self._foreign(request)):
            return request
        return {**request, "mounts": [await self._resolve(mount) for mount in request["mounts"]]}

    async def _resolve(self, mount: Mount) -> Mount:
        # What is not fixed is refused by whoever describes the container.
        if not mount["inner"] or not mount["is_fixed"] or self._is_own(mount):
            return mount
        source, inner = mount["source"], mount["inner"]
        asker = self._askers.setdefault(source, Asker())
        try:
            place = await asker.locate(source, inner, self.within_s)
        except OSError as error:
            kind = EngineRejected if error.errno in LASTING else EngineUnavailable
            why = error.strerror or say("mount_no_answer")
            raise kind("not_mountable", place=f"{source}/{inner}", error=why) from None
        return {**mount, "source": place.path, "inner": ""}

    def _foreign(self, request: LocalRequest) -> Iterable[Mount]:
        return (mount for mount in request["mounts"] if not self._is_own(mount))

    def _is_own(self, mount: Mount) -> bool:
        return self._home is not None and Path(mount["source"]).is_relative_to(self._home)

    async def close(self) -> None:
        await asyncio.gather(*(asker.close() for asker in self._askers.values()))
