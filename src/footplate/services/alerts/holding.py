"""What is wrong just now: troubles of the platform, and what was noticed of jobs that go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from footplate.domain.job import Job
from footplate.domain.messages import Message
from footplate.services.access import Caller
from footplate.services.alerts.troubles import of_disks, of_nodes
from footplate.services.events import page
from footplate.services.platform import Platform
from footplate.store import delivery_queries
from footplate.store.delivery_queries import Alarm

LEVEL_OF_PLATFORM = "critical"
LEVEL = "warning"
MOST_EVENTS = 1000


@dataclass(frozen=True, slots=True)
class Holding:
    """One thing that is wrong: of what kind, how bad, with what; `since` where that is known."""

    on: str
    level: str
    said: Message
    subject: str
    since: float | None = None
    job: Job | None = None


async def holding(platform: Platform, caller: Caller) -> list[Holding]:
    """What holds of the caller's jobs; for admins of all jobs, and of the platform too."""
    found = list(_of_platform(platform)) if caller.is_admin else []
    for alarm in await platform.store.read(delivery_queries.all_alarms):
        job = platform.store.board.get(alarm.job_id)
        # The others say when a metric was last told of.
        lasts = not alarm.key.endswith(":last")
        if job is not None and lasts and (caller.is_admin or job.owner == caller.name):
            found.append(await _of_job(platform, caller, job, alarm))
    return found


def _of_platform(platform: Platform) -> Iterator[Holding]:
    for on, troubles in (("node", of_nodes(platform)), ("disk", of_disks(platform, dict))):
        for name, said in troubles.items():
            yield Holding(on, LEVEL_OF_PLATFORM, said, name)


async def _of_job(platform: Platform, caller: Caller, job: Job, alarm: Alarm) -> Holding:
    """Say what the alarm was about, in the words in which it was told when it began."""
    source, _, on = alarm.key.partition(":")[2].rpartition(":")
    for event in await page(platform, caller, 0, MOST_EVENTS, job.id, ("alert",)):
        if (event.data.get("on"), event.data.get("source")) == (on, source):
            return Holding(on, str(event.data["level"]), event.said, job.id, event.at, job)
    return Holding(on, LEVEL, job.reason.said, job.id, alarm.told_at, job)
