"""Reads the event log by a stored cursor, and makes of each event the notices that are to be sent.

The notices and the cursor that has passed their event are written in one commit: none is lost, and none is
made twice. Events that nobody is told of move the cursor in memory only; after a crash they are passed over
again.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Callable

from footplate.domain.alerts import EVENT_KINDS, LASTING, Delivery, DeliveryState, Notice, words_for
from footplate.domain.ids import job_id as time_sorted_id
from footplate.domain.job import Job
from footplate.services.alerts.audience import Extent, extent_of, outlined
from footplate.services.alerts.matching import Receiver, Wish, receivers, rule_wishes, wishes_of
from footplate.services.platform import Platform
from footplate.store import alert_queries, delivery_queries, event_queries
from footplate.store.delivery_queries import Alarm
from footplate.store.rows import EventRecord
from footplate.store.store import News
from footplate.store.writer import Transaction

log = logging.getLogger(__name__)

CURSOR = "alerts"
BATCH = 200
_KINDS = frozenset(EVENT_KINDS)


class Outbox:
    """Owns the cursor; `step` is one round of its loop."""

    def __init__(self, platform: Platform, on_new: Callable[[], None]) -> None:
        self._platform = platform
        self._on_new = on_new
        self._cursor = 0
        # Whether there may be events behind the cursor that were not looked at.
        self._is_behind = True
        self._wake = asyncio.Event()
        self._wake.set()

    async def open(self) -> None:
        """Find the cursor again; a database that had none begins with what happens from now on."""
        store = self._platform.store
        found = await store.read(lambda connection: alert_queries.cursor(connection, CURSOR))
        if found is None:
            found = await store.read(event_queries.last_seq)
            await store.write(lambda tx: alert_queries.put_cursor(tx.connection, CURSOR, found))
        self._cursor = found

    def take(self, news: News) -> None:
        """Hear of a commit; what nobody is told of costs nothing more."""
        if not news.events:
            return
        if self._is_behind or any(self._concerns_somebody(event, news) for event in news.events):
            self._is_behind = True
            self._wake.set()
        else:
            self._cursor = news.events[-1].seq

    def _concerns_somebody(self, event: EventRecord, news: News) -> bool:
        if event.kind not in _KINDS:
            return False
        job = news.jobs.get(event.job_id) or self._platform.store.board.get(event.job_id)
        # One that is not there is looked up.
        if job is None or job.spec.alerts:
            return True
        return next(self._platform.alerts.rules_for(event.owner, event.queue), None) is not None

    async def step(self) -> None:
        """Wait for events, and make notices of them until none is left."""
        await self._wake.wait()
        self._wake.clear()
        self._is_behind = True
        store, cursor = self._platform.store, self._cursor
        events = await store.read(lambda connection: event_queries.after(connection, cursor, BATCH))
        if not events:
            self._is_behind = self._wake.is_set()
            return
        self._wake.set()
        wanted = [one for event in events for one in await self._notices(event)]
        last = events[-1].seq
        if wanted:
            await store.write(lambda tx: self._write(tx, wanted, last))
            self._on_new()
        self._cursor = last

    def _write(self, tx: Transaction, wanted: list[tuple[Delivery, Alarm | None]], last: int) -> None:
        for delivery, throttle in wanted:
            if throttle is not None:
                delivery_queries.put_alarm(tx.connection, throttle)
            delivery_queries.add(tx.connection, [delivery])
        alert_queries.put_cursor(tx.connection, CURSOR, last)

    async def _notices(self, event: EventRecord) -> list[tuple[Delivery, Alarm | None]]:
        words = words_for(event.kind, event.data)
        if not words:
            return []
        job = await self._platform.store.job(event.job_id)
        found: list[tuple[Delivery, Alarm | None]] = []
        for wish in self._wishes(event, job):
            word = next((one for one in words if one in wish.on), None)
            if word is not None and wish.since <= event.at:
                throttle = await self._throttle(event, wish, word)
                if throttle is None or throttle.told_at == event.at:
                    found += [(one, throttle) for one in await self._deliveries(event, job, wish, word)]
        return found

    def _wishes(self, event: EventRecord, job: Job | None) -> list[Wish]:
        book = self._platform.alerts
        wishes = list(wishes_of(job, book) if job else rule_wishes(book, event.owner, event.queue))
        source = event.data.get("source")
        if event.kind == "alert":
            # It was noticed for the sake of one wish.
            return [wish for wish in wishes if wish.source == source]
        # A job that says itself when its deadline is, is told of by the watch.
        return [wish for wish in wishes if not (wish.at is not None and "deadline" in wish.on)]

    async def _throttle(self, event: EventRecord, wish: Wish, word: str) -> Alarm | None:
        """The last time that the same was told, or this time when that is long enough ago."""
        if wish.every_s is None or word in LASTING:
            return None
        key = f"{event.job_id}:{wish.source}:{word}:last"
        last = await self._platform.store.read(lambda connection: delivery_queries.alarm(connection, key))
        if last is not None and event.at - last.told_at < wish.every_s:
            return last
        return Alarm(key, event.job_id, 1, event.at)

    async def _deliveries(self, event: EventRecord, job: Job | None, wish: Wish, word: str) -> list[Delivery]:
        notice = Notice(
            on=word,
            level=wish.level,
            said=event.said,
            at=event.at,
            job_id=event.job_id,
            job_name=job.spec.name if job else event.job_id,
            owner=event.owner,
            queue=event.queue,
            attempt=event.attempt,
            n_before=int(event.data.get("n_before", 0)),
        )
        found = []
        for receiver in receivers(wish, event.owner, event.queue, self._platform.alerts):
            told = await self._as_seen(receiver, notice)
            if told is not None:
                found.append(self._delivery(f"{event.seq}:{wish.source}", receiver, told))
        return found

    async def _as_seen(self, receiver: Receiver, notice: Notice) -> Notice | None:
        extent = await extent_of(self._platform, receiver.scope, notice, receiver.is_named_by_job)
        if extent is Extent.NOTHING:
            return None
        return notice if extent is Extent.ALL else outlined(notice)

    def _delivery(self, key: str, receiver: Receiver, notice: Notice) -> Delivery:
        return make_delivery(key, receiver, notice, self._platform.clock.now())


def make_delivery(key: str, receiver: Receiver, notice: Notice, now: float) -> Delivery:
    """Make the delivery of a notice; the key says of what it tells whom."""
    channel_id = receiver.channel.id if receiver.channel else ""
    whole = f"{key}:{receiver.scope}:{channel_id}"
    # With a trace of the key: two that are made in the same moment are never taken for one.
    trace = hashlib.sha256(whole.encode()).hexdigest()[:8]
    return Delivery(
        id=time_sorted_id(now, secrets.randbits(20)) + trace,
        key=whole,
        scope=receiver.scope,
        channel_id=channel_id,
        notice=notice,
        state=DeliveryState.WAITING if receiver.channel else DeliveryState.SHOWN,
        created_at=now,
        next_at=now,
        done_at=None if receiver.channel else now,
    )
