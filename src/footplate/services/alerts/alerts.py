"""The loops of alerts, put together: the outbox, the watch over what lasts, and the sender."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from footplate.domain.alerts import ChannelKind
from footplate.notify.senders import SENDERS, Sender
from footplate.services.alerts.conditions import Conditions, Senses
from footplate.services.alerts.outbox import Outbox
from footplate.services.alerts.sending import Sending
from footplate.services.platform import Platform

log = logging.getLogger(__name__)

FAULT_PAUSE_S = 1.0
WATCH_EVERY_S = 1.0


class Alerts:
    """Owns the loops; `start` begins them, `close` ends them. What was not sent waits for the next start."""

    def __init__(
        self,
        platform: Platform,
        url: str,
        senses: Senses,
        senders: Mapping[ChannelKind, Sender] = SENDERS,
    ) -> None:
        self._platform = platform
        self.sending = Sending(platform, url, senders)
        self.outbox = Outbox(platform, self.sending.wake)
        self.conditions = Conditions(platform, senses, self.sending.wake)
        self._tasks: list[asyncio.Task[None]] = []
        self._unsubscribe: Callable[[], None] = lambda: None

    async def start(self) -> None:
        await self._platform.store.read(self._platform.alerts.load)
        await self.outbox.open()
        await self.conditions.open()
        self._unsubscribe = self._platform.store.subscribe(self.outbox.take)
        for name, step in (
            ("outbox", self.outbox.step),
            ("conditions", self._watch),
            ("sending", self.sending.step),
        ):
            self._tasks.append(asyncio.create_task(_repeat(name, step), name=f"footplate-{name}"))

    async def close(self) -> None:
        self._unsubscribe()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.sending.close()

    async def _watch(self) -> None:
        await self.conditions.step()
        await asyncio.sleep(WATCH_EVERY_S)


async def _repeat(name: str, step: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            await step()
        except Exception:
            log.exception("the loop %s of alerts failed", name)
            await asyncio.sleep(FAULT_PAUSE_S)
