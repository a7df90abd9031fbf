"""Sends what waits: one letter at a time through each channel, again after a pause when it was not taken.

An attempt is counted before it is made, and its end is written after. A crash between the two leaves it open
whether the receiver got the letter: it is sent again, with the same id.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

from footplate.domain.alerts import Channel, ChannelKind, Delivery, DeliveryState
from footplate.domain.errors import SecretUnreadable
from footplate.domain.messages import say
from footplate.notify.base import SendFailed, Target
from footplate.notify.senders import SENDERS, Sender
from footplate.services.alerts.audience import Extent, extent_of, outlined
from footplate.services.alerts.quiet import quiet_until
from footplate.services.alerts.setting import surroundings
from footplate.services.alerts.telling import letter_of
from footplate.services.platform import Platform
from footplate.store import alert_queries, delivery_queries

log = logging.getLogger(__name__)

# The pauses before an attempt is made again; after the last one nobody tries any more.
PAUSES_S = (5.0, 30.0, 120.0, 600.0, 1800.0, 3600.0, 6 * 3600.0)
LOOK_EVERY_S = 1.0
BATCH = 100
KEPT_S = 30 * 86400.0
SWEEP_EVERY_S = 3600.0


def label_of(channel_id: str) -> str:
    return f"channel {channel_id}"


async def target_of(platform: Platform, channel: Channel) -> Target:
    """Open where a channel leads."""
    sealed = await platform.store.read(lambda connection: alert_queries.sealed_of(connection, channel.id))
    if sealed is None:
        raise SendFailed(say("channel_gone"), is_final=True)
    try:
        return Target(**json.loads(platform.vault.unseal(sealed, label_of(channel.id))))
    except SecretUnreadable as error:
        raise SendFailed(error.said, is_final=True) from None


class Sending:
    """Owns the letters that are under way; `step` is one round of its loop."""

    def __init__(self, platform: Platform, url: str, senders: Mapping[ChannelKind, Sender] = SENDERS) -> None:
        self._platform = platform
        self._url = url
        self._senders = senders
        self._wake = asyncio.Event()
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._next_due: float | None = 0.0
        self._swept_at = 0.0

    def wake(self) -> None:
        """Look at once: there is something new."""
        self._next_due = 0.0
        self._wake.set()

    async def step(self) -> None:
        """Begin what is due, and wait until more may be."""
        self._wake.clear()
        now = self._platform.clock.now()
        if self._next_due is not None and now >= self._next_due:
            await self._begin_due(now)
        if now - self._swept_at > SWEEP_EVERY_S:
            self._swept_at = now
            before = now - KEPT_S
            await self._platform.store.write(lambda tx: delivery_queries.remove_before(tx.connection, before))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), LOOK_EVERY_S)

    async def close(self) -> None:
        under_way = list(self._busy.values())
        for one in under_way:
            one.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    async def _begin_due(self, now: float) -> None:
        store, has_more = self._platform.store, True
        while has_more:
            # However much waits for receivers that do not answer, the others are found.
            query = partial(delivery_queries.due, now=now, limit=BATCH, busy=tuple(self._busy))
            found = await store.read(query)
            for delivery in found:
                if delivery.channel_id not in self._busy:
                    work = asyncio.create_task(self._attempt(delivery), name=f"footplate-alert-{delivery.id}")
                    self._busy[delivery.channel_id] = work
                    work.add_done_callback(self._freeing(delivery.channel_id))
            has_more = len(found) == BATCH
        self._next_due = await store.read(delivery_queries.next_due)

    def _freeing(self, channel_id: str) -> Callable[[asyncio.Task[None]], None]:
        def free(work: asyncio.Task[None]) -> None:
            self._busy.pop(channel_id, None)
            if not work.cancelled() and work.exception() is not None:
                # Still due, and not at once: a fault of ours must not be met without end.
                log.error("a notice could not be sent", exc_info=work.exception())
            else:
                self.wake()

        return free

    async def _attempt(self, delivery: Delivery) -> None:
        store, now = self._platform.store, self._platform.clock.now()
        channel = self._platform.alerts.channels.get(delivery.channel_id)
        if channel is None or not channel.is_enabled:
            await self._put_off(delivery, SendFailed(say("channel_gone"), is_final=True))
            return
        try:
            quiet = quiet_until(channel, delivery.notice.level, now)
            if quiet is not None:
                await store.write(
                    lambda tx: delivery_queries.postpone(tx.connection, delivery.id, quiet, None)
                )
                return
            await self._send(delivery, channel, now)
        except SendFailed as failure:
            await self._put_off(delivery, failure)

    async def _send(self, delivery: Delivery, channel: Channel, now: float) -> None:
        store, notice = self._platform.store, delivery.notice
        # Whoever may know less by now than when it happened is told less.
        extent = await extent_of(self._platform, delivery.scope, notice, is_named_by_job=notice.is_full)
        if extent is Extent.NOTHING:
            await store.write(
                lambda tx: delivery_queries.end(tx.connection, delivery.id, DeliveryState.WITHHELD, now)
            )
            return
        if extent is Extent.OUTLINE and notice.is_full:
            delivery = replace(delivery, notice=outlined(notice))
        target = await target_of(self._platform, channel)
        letter = await letter_of(self._platform, self._url, delivery, channel)
        await store.write(lambda tx: delivery_queries.begin(tx.connection, delivery.id))
        await self._senders[channel.kind](letter, target, await surroundings(self._platform), now)
        await store.write(
            lambda tx: delivery_queries.end(tx.connection, delivery.id, DeliveryState.SENT, now)
        )

    async def _put_off(self, delivery: Delivery, failure: SendFailed) -> None:
        store, now = self._platform.store, self._platform.clock.now()
        n_made = delivery.n_attempts + 1
        if failure.is_final or n_made > len(PAUSES_S):
            await store.write(
                lambda tx: delivery_queries.end(
                    tx.connection, delivery.id, DeliveryState.FAILED, now, failure.said
                )
            )
            log.warning("a notice was not taken by channel %s: %s", delivery.channel_id, failure.said)
            return
        until = now + max(PAUSES_S[n_made - 1], failure.retry_after_s)
        await store.write(
            lambda tx: delivery_queries.postpone(tx.connection, delivery.id, until, failure.said)
        )
