"""Removes containers whose tasks have ended, in the background, each once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from footplate.domain.errors import EngineError
from footplate.engines.local.containers import claiming
from footplate.engines.local.containers.api import CONFLICT, ContainerApi, Refused

AT_ONCE = 4
TRY_FOR_S = 10.0
TRY_EVERY_S = 0.1
MOST_REMEMBERED = 10_000

log = logging.getLogger(__name__)


class Tidying:
    """Removes ended containers soon; containers that are kept are left alone."""

    def __init__(
        self, api: Callable[[], Awaitable[ContainerApi]], lock: Callable[[str], asyncio.Lock]
    ) -> None:
        self._api = api
        self._lock = lock
        self._room = asyncio.Semaphore(AT_ONCE)
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._removed: dict[str, None] = {}

    def add(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._removed and name not in self._under_way:
                self._under_way[name] = asyncio.create_task(self._tidy(name))

    def remember(self, name: str) -> None:
        """Note that a container is gone: none of that name will ever come again."""
        self._removed[name] = None
        while len(self._removed) > MOST_REMEMBERED:
            self._removed.pop(next(iter(self._removed)))

    async def close(self) -> None:
        """Stop; the next server removes the rest."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _tidy(self, name: str) -> None:
        try:
            if await self._remove(name):
                self.remember(name)
        except EngineError as error:
            log.warning("container %s is left for now: %s", name, error)
        finally:
            del self._under_way[name]

    async def _remove(self, name: str) -> bool:
        """Remove a container as soon as it has ended; False when it goes on."""
        for _ in range(int(TRY_FOR_S / TRY_EVERY_S)):
            try:
                async with self._room, self._lock(name):
                    await (await self._api()).remove(name, force=False)
            except Refused as error:
                if error.status != CONFLICT and "running" not in error.message:
                    raise
            else:
                return True
            await asyncio.sleep(TRY_EVERY_S)
        return await self._remove_dead(name)

    async def _remove_dead(self, name: str) -> bool:
        """Remove a container that its engine takes for running and that is not: the engine missed its end."""
        api = await self._api()
        async with self._room, self._lock(name):
            found = await api.container(name)
            pid = int(found["State"].get("Pid") or 0) if found else 0
            if pid and await asyncio.to_thread(claiming.identify, pid) is not None:
                return False
            await api.remove(name)
        return True
