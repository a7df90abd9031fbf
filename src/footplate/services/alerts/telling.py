"""Puts a notice into words: in the language of the channel, with the last lines of the log and a link."""

from __future__ import annotations

import asyncio
from datetime import datetime
from zoneinfo import ZoneInfo

from footplate.domain.alerts import Channel, Delivery, Notice
from footplate.domain.job import Job, Task
from footplate.domain.kinds import show_instant
from footplate.domain.messages import Message, as_json, say
from footplate.domain.messages.formats import Clock
from footplate.domain.messages.render import render
from footplate.notify.base import Letter
from footplate.services.alerts.quiet import zone_named
from footplate.services.platform import Platform
from footplate.store.logfiles import fold_progress

N_LOG_LINES = 10
MOST_OF_A_LINE = 300
MOST_LOG_BYTES = 64 * 1024
TEST = "test"


async def letter_of(platform: Platform, url: str, delivery: Delivery, channel: Channel) -> Letter:
    """Write the letter of a delivery for a channel."""
    notice = delivery.notice

    def tell(said: Message) -> str:
        return render(said, channel.language, _clock(channel))

    job = await platform.store.job(notice.job_id) if notice.job_id else None
    task, lines = await _last_lines(platform, job, notice)
    where = say(
        "alert_where", queue=notice.queue, owner=notice.owner, job=notice.job_id, attempt=notice.attempt + 1
    )
    when = say("alert_when", at=show_instant(notice.at))
    again = [say("alert_again", times=notice.n_before + 1)] if notice.n_before else []
    said = [notice.said, *([where] if notice.job_id else []), when, *again]
    return Letter(
        id=delivery.id,
        attempt=delivery.n_attempts + 1,
        on=notice.on,
        level=notice.level,
        title=tell(title_of(notice)),
        lines=tuple(map(tell, said)),
        log_head=tell(say("alert_log_of", task=task)) if lines else "",
        log_lines=tuple(lines),
        link=f"{url}/jobs/{notice.job_id}" if notice.job_id else "",
        link_text=tell(say("alert_link")),
        facts=_facts(notice, job),
    )


def title_of(notice: Notice) -> Message:
    """The first line of a notice."""
    if notice.on == TEST:
        return say("alert_test", channel=notice.channel)
    name = notice.job_name
    titles = {
        "started": say("alert_started", name=name),
        "succeeded": say("alert_succeeded", name=name),
        "failed": say("alert_failed", name=name),
        "stopped": say("alert_stopped", name=name),
        "finished": say("alert_finished", name=name),
        "retried": say("alert_retried", name=name),
        "preempted": say("alert_preempted", name=name),
        "hang": say("alert_hang", name=name),
        "no_progress": say("alert_no_progress", name=name),
        "deadline": say("alert_deadline", name=name),
        "overtime": say("alert_overtime", name=name),
        "metric": say("alert_metric", name=name),
        "node": say("alert_node"),
        "disk": say("alert_disk"),
    }
    return titles[notice.on]


def _facts(notice: Notice, job: Job | None) -> dict[str, object]:
    """What programs read, the same in every language."""
    told: dict[str, object] = {
        "at": show_instant(notice.at),
        "message": as_json(notice.said),
        "times_before": notice.n_before,
    }
    if notice.job_id:
        told["job"] = {
            "id": notice.job_id,
            "name": notice.job_name,
            "owner": notice.owner,
            "queue": notice.queue,
            "attempt": notice.attempt,
            "state": job.state.value if job else None,
        }
    return told


def _clock(channel: Channel) -> Clock:
    zone = zone_named(channel.zone) or ZoneInfo("UTC")

    def show(moment: datetime) -> datetime:
        return moment.astimezone(zone)

    return show


async def _last_lines(platform: Platform, job: Job | None, notice: Notice) -> tuple[str, list[str]]:
    """The end of the log of the task that the notice is most likely about, masked as in all views."""
    if job is None or not notice.is_full or notice.attempt > job.attempt:
        return "", []
    task = _task_of(job)
    mask = await platform.mask_of(job)
    log = platform.logs.open(f"{job.id}.{notice.attempt}", task.name, mask)

    def read() -> str:
        start = max(log.offset_of_tail(N_LOG_LINES), log.size - MOST_LOG_BYTES)
        return log.read(start, MOST_LOG_BYTES).data.decode(errors="replace")

    text = fold_progress(await asyncio.to_thread(read))
    lines = [_printable(line) for line in text.splitlines() if line.strip()]
    return task.name, lines[-N_LOG_LINES:]


def _task_of(job: Job) -> Task:
    failed = (task for task in job.tasks if task.has_failed)
    return next(failed, job.tasks[0])


def _printable(line: str) -> str:
    shown = "".join(sign if sign.isprintable() or sign == "\t" else " " for sign in line.rstrip())
    return shown if len(shown) <= MOST_OF_A_LINE else shown[:MOST_OF_A_LINE] + "…"
