"""Alerts: what is told about jobs and the platform, by which rules, through which channels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from footplate.domain.messages import Message
from footplate.domain.secret import queue_scope, user_scope

# What is told of jobs, when it happens.
MOMENTS = ("started", "succeeded", "failed", "stopped", "finished", "retried", "preempted", "hang")
# What lasts, and can be told again and again.
LASTING = ("deadline", "overtime", "no_progress", "metric")
OF_JOBS = (*MOMENTS, *LASTING)
# What is told of the platform, to its admins.
OF_PLATFORM = ("node", "disk")
LEVELS = ("info", "warning", "minor", "major", "critical")


class ChannelKind(StrEnum):
    """How a channel sends."""

    MAIL = "mail"
    WEBHOOK = "webhook"
    DINGTALK = "dingtalk"
    WECOM = "wecom"
    FEISHU = "feishu"
    SLACK = "slack"


class DeliveryState(StrEnum):
    """What became of a notice; `shown` is one that no channel was there for."""

    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"
    WITHHELD = "withheld"
    SHOWN = "shown"


@dataclass(frozen=True, slots=True)
class Channel:
    """A way to a person, or to the people of a queue; where it leads is sealed."""

    id: str
    name: str
    owner: str
    kind: ChannelKind
    queue: str = ""
    # What may be shown of where it leads.
    target: str = ""
    language: str = "en"
    zone: str = "UTC"
    # As `22:00-07:00` of its zone; empty for none.
    quiet: str = ""
    # What is at least this grave is told in quiet hours as well.
    quiet_level: str = "critical"
    is_enabled: bool = True
    has_secret: bool = False
    created_at: float = 0.0
    updated_at: float = 0.0

    @property
    def scope(self) -> str:
        return queue_scope(self.queue) if self.queue else user_scope(self.owner)


@dataclass(frozen=True, slots=True)
class Rule:
    """What is told of all jobs of a person or of a queue, or of the platform."""

    id: str
    owner: str
    on: tuple[str, ...]
    queue: str = ""
    level: str = "info"
    # Ids; empty for all channels of whoever the rule belongs to.
    channels: tuple[str, ...] = ()
    after_s: int | None = None
    every_s: int | None = None
    metric: str = ""
    above: float | None = None
    below: float | None = None
    created_at: float = 0.0

    @property
    def scope(self) -> str:
        return queue_scope(self.queue) if self.queue else user_scope(self.owner)


@dataclass(frozen=True, slots=True)
class Notice:
    """What is told, before anybody has put it into words."""

    on: str
    level: str
    said: Message
    at: float
    job_id: str = ""
    job_name: str = ""
    owner: str = ""
    queue: str = ""
    attempt: int = 0
    # Whether it has what only those may know who may look into the job.
    is_full: bool = True
    # How often it was told before.
    n_before: int = 0
    channel: str = ""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A notice on its way through one channel."""

    id: str
    key: str
    scope: str
    channel_id: str
    notice: Notice
    state: DeliveryState
    created_at: float
    next_at: float
    n_attempts: int = 0
    error: Message | None = None
    done_at: float | None = None


def level_rank(level: str) -> int:
    return LEVELS.index(level)


# Of some events the name, of others the reason says what they are.
_BY_KIND = {
    "running": ("started",),
    "succeeded": ("succeeded", "finished"),
    "failed": ("failed", "finished"),
    "stopped": ("stopped", "finished"),
    "hang": ("hang",),
}
_BY_REASON = {"retrying": "retried", "retry_later": "retried", "preempted": "preempted"}
EVENT_KINDS = (*_BY_KIND, "requeued", "stop_asked", "alert")


def words_for(kind: str, facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Say what an event of the log is in the words of alerts; nothing for one that nobody is told of."""
    if kind == "requeued":
        word = _BY_REASON.get(str(facts.get("reason")))
        return (word,) if word else ()
    if kind == "stop_asked":
        return ("deadline",) if facts.get("reason") == "deadline" else ()
    if kind == "alert":
        return (str(facts.get("on")),)
    return _BY_KIND.get(kind, ())
