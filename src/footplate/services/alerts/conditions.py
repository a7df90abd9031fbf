"""Watches for what no event tells: a deadline that passes, a job that runs too long or makes no progress,
a metric beyond its bound, a node or a disk in trouble. What lasts is told again as often as was asked for.

That something of a job was noticed goes into the event log, in one commit with the note that it was; from
there it is told like any other event. What is told of the platform has no job, and goes straight out.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass

from footplate.domain.alerts import LASTING, OF_PLATFORM, Delivery, Notice
from footplate.domain.job import Job
from footplate.domain.kinds import show_instant
from footplate.domain.messages import Message, say
from footplate.domain.states import JobState, ReasonCode
from footplate.services.alerts.matching import Wish, of_rule, receivers, wishes_of
from footplate.services.alerts.outbox import make_delivery
from footplate.services.platform import Platform
from footplate.store import delivery_queries
from footplate.store.delivery_queries import Alarm
from footplate.store.writer import Transaction

log = logging.getLogger(__name__)

# A metric that swings around its bound is not told more often than this.
LEAST_APART_S = 60.0
_WATCHED = frozenset(LASTING) | {"hang"}

# The newest value of a metric of a job; None while there is none.
MetricOf = Callable[[Job, str], Awaitable[float | None]]


async def no_metrics(_job: Job, _name: str) -> float | None:
    return None


@dataclass(frozen=True, slots=True)
class Senses:
    """What the watch looks at besides jobs."""

    # For how long no task of a job has made progress; None where that is not known.
    idle_s: Callable[[Job], float | None] = lambda _job: None
    metric_of: MetricOf = no_metrics
    # What is wrong with nodes and engines, and with disks and storages, by the name of each.
    nodes: Callable[[], Mapping[str, Message]] = dict
    disks: Callable[[], Mapping[str, Message]] = dict


@dataclass(frozen=True, slots=True)
class Found:
    """Something that holds now, for the sake of one wish."""

    key: str
    on: str
    wish: Wish
    said: Message
    # Whether it was told already when it began, by an event of its own.
    is_told: bool = False


class Conditions:
    """Knows what was told; `step` is one round of its loop."""

    def __init__(self, platform: Platform, senses: Senses, on_new: Callable[[], None]) -> None:
        self._platform = platform
        self._senses = senses
        self._on_new = on_new
        self._alarms: dict[str, Alarm] = {}

    async def open(self) -> None:
        found = await self._platform.store.read(delivery_queries.all_alarms)
        self._alarms = {alarm.key: alarm for alarm in found if not alarm.key.endswith(":last")}

    async def step(self) -> None:
        """Look once at all jobs that somebody wants to be told of, and at the platform."""
        now = self._platform.clock.now()
        holding: set[str] = set()
        for job in list(self._platform.store.board.values()):
            for wish in self._wishes(job):
                for found in await self._judge(job, wish, now):
                    holding.add(found.key)
                    if self._is_due(found, now):
                        await self._tell(job, found, now)
        for found in self._of_platform():
            holding.add(found.key)
            if self._is_due(found, now):
                await self._tell_admins(found, now)
        await self._forget_others(holding, now)

    def _wishes(self, job: Job) -> list[Wish]:
        book = self._platform.alerts
        if not job.spec.alerts and not book.rules:
            return []
        return [wish for wish in wishes_of(job, book) if _WATCHED.intersection(wish.on)]

    async def _judge(self, job: Job, wish: Wish, now: float) -> list[Found]:
        """Find all that holds: a job that runs too long may hang as well."""
        found = []
        for word in wish.on:
            said = await self._holds(job, wish, word, now)
            if said is not None:
                # A deadline is of the whole job, everything else of the attempt.
                attempt = "" if word == "deadline" else f".{job.attempt}"
                key = f"{job.id}{attempt}:{wish.source}:{word}"
                found.append(Found(key, word, wish, said, is_told=word == "hang"))
        return found

    async def _holds(self, job: Job, wish: Wish, word: str, now: float) -> Message | None:
        match word:
            case "deadline" if wish.at is not None and now >= wish.at:
                return say("alert_deadline_passed", deadline=show_instant(wish.at))
            case "overtime" if wish.after_s is not None and job.running_at is not None:
                is_over = job.state is JobState.RUNNING and now - job.running_at >= wish.after_s
                return say("alert_ran_longer", after_s=wish.after_s) if is_over else None
            case "no_progress" if wish.after_s is not None and job.state is JobState.RUNNING:
                idle_s = self._senses.idle_s(job)
                is_idle = idle_s is not None and idle_s >= wish.after_s
                return say("alert_idle_for", after_s=wish.after_s) if is_idle else None
            case "metric" if job.state is JobState.RUNNING:
                return await self._beyond(job, wish)
            case "hang" if job.state is JobState.RUNNING and job.reason.code is ReasonCode.HANG:
                return job.reason.said if wish.every_s else None
        return None

    async def _beyond(self, job: Job, wish: Wish) -> Message | None:
        value = await self._senses.metric_of(job, wish.metric)
        if value is None:
            return None
        if wish.above is not None and value > wish.above:
            return say("alert_metric_above", metric=wish.metric, value=value, bound=wish.above)
        if wish.below is not None and value < wish.below:
            return say("alert_metric_below", metric=wish.metric, value=value, bound=wish.below)
        return None

    def _of_platform(self) -> Iterator[Found]:
        rules = [rule for rule in self._platform.alerts.rules.values() if not rule.queue]
        for rule in rules:
            for word in OF_PLATFORM:
                if word in rule.on:
                    troubles = self._senses.nodes() if word == "node" else self._senses.disks()
                    for name, said in troubles.items():
                        yield Found(f"{word}:{name}:rule:{rule.id}", word, of_rule(rule), said)

    def _is_due(self, found: Found, now: float) -> bool:
        before = self._alarms.get(found.key)
        if before is None or before.n_told == 0:
            return True
        return found.wish.every_s is not None and now - before.told_at >= found.wish.every_s

    async def _tell(self, job: Job, found: Found, now: float) -> None:
        """Write into the event log that something holds; it is told from there."""
        n_before, store = self._n_before(found), self._platform.store
        alarm = Alarm(found.key, job.id, n_before + 1, now)
        is_silent = found.is_told and n_before == 0

        def unit(tx: Transaction) -> bool:
            if (now_job := store.living(tx, job.id)) is None or now_job.state.is_final:
                return False
            delivery_queries.put_alarm(tx.connection, alarm)
            if not is_silent:
                tx.record(
                    now_job,
                    "alert",
                    now,
                    found.said,
                    on=found.on,
                    level=found.wish.level,
                    source=found.wish.source,
                    n_before=n_before,
                )
            return True

        if await store.write(unit):
            self._alarms[found.key] = alarm

    async def _tell_admins(self, found: Found, now: float) -> None:
        n_before, store = self._n_before(found), self._platform.store
        alarm = Alarm(found.key, "", n_before + 1, now)
        notice = Notice(found.on, found.wish.level, found.said, now, n_before=n_before)
        going: list[Delivery] = [
            make_delivery(f"{found.key}:{now}:{n_before}", receiver, notice, now)
            for receiver in receivers(found.wish, "", "", self._platform.alerts)
        ]

        def unit(tx: Transaction) -> None:
            delivery_queries.put_alarm(tx.connection, alarm)
            delivery_queries.add(tx.connection, going)

        await store.write(unit)
        self._alarms[found.key] = alarm
        self._on_new()

    def _n_before(self, found: Found) -> int:
        known = self._alarms.get(found.key)
        return known.n_told if known else 0

    async def _forget_others(self, holding: set[str], now: float) -> None:
        """Forget what no longer holds: it is told anew when it comes back."""
        gone = [
            key
            for key, alarm in self._alarms.items()
            if key not in holding and now - alarm.told_at >= LEAST_APART_S
        ]
        if gone:
            await self._platform.store.write(lambda tx: delivery_queries.remove_alarms(tx.connection, gone))
            for key in gone:
                del self._alarms[key]
