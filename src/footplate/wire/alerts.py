"""Alerts over REST: channels, rules, what was told, and what admins set for all."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from footplate.domain.alerts import (
    OF_JOBS,
    OF_PLATFORM,
    Channel,
    ChannelKind,
    Delivery,
    DeliveryState,
    Rule,
)
from footplate.domain.messages import Message
from footplate.wire.body import Body, QueueName, Text, Told
from footplate.wire.convert import instant
from footplate.wire.told import told

Level = Literal["info", "warning", "minor", "major", "critical"]
Language = Literal["en", "zh"]
AlertWord = Annotated[str, Field(json_schema_extra={"enum": [*OF_JOBS, *OF_PLATFORM]})]
ChannelName = Annotated[Text, Field(min_length=1, max_length=63, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Address = Annotated[Text, Field(min_length=1, max_length=2048)]
LengthS = Annotated[int, Field(ge=1, le=365 * 86400)]
IntervalS = Annotated[int, Field(ge=60, le=365 * 86400)]
Bound = Annotated[float, Field(ge=-1e300, le=1e300)]
ChannelId = Annotated[Text, Field(max_length=64)]


class ChannelFields(Body):
    """What can be said of a channel."""

    name: ChannelName | None = None
    address: Address | None = Field(
        None,
        repr=False,
        description="A mail address, or the address of a webhook or robot. It is stored sealed.",
    )
    secret: Text | None = Field(
        None,
        max_length=1024,
        repr=False,
        description="What webhooks, DingTalk and Feishu sign with; empty: nothing is signed.",
    )
    language: Language | None = Field(None, description="In which notices are written.")
    zone: Text | None = Field(None, max_length=64, description="Time zone, such as Asia/Shanghai.")
    quiet: Text | None = Field(
        None, max_length=16, description="Hours in which notices wait, such as 22:00-07:00; empty: none."
    )
    quiet_level: Level | None = Field(None, description="What is at least this grave does not wait.")
    is_enabled: bool | None = None


class NewChannel(ChannelFields):
    name: ChannelName
    kind: ChannelKind
    address: Address = Field(
        repr=False, description="A mail address, or the address of a webhook or robot. It is stored sealed."
    )
    queue: QueueName | None = Field(None, description="Whose channel it is; absent: the caller's own.")


class ChannelBody(Body):
    id: str
    name: str
    kind: ChannelKind
    owner: str
    queue: str | None
    target: str = Field(description="Where it leads, without what could be a password.")
    has_secret: bool
    language: Language
    zone: str
    quiet: str
    quiet_level: Level
    is_enabled: bool
    created_at: str
    updated_at: str


class Channels(Body):
    items: list[ChannelBody]


class RuleChange(Body):
    """What is told, and to which channels."""

    on: list[AlertWord] = Field(min_length=1, max_length=20, description="Of what.")
    level: Level = "info"
    channels: list[ChannelId] = Field(
        [], max_length=50, description="By id; empty: all channels of whoever the rule belongs to."
    )
    after_s: LengthS | None = Field(None, description="For overtime and no_progress: after how long.")
    every_s: IntervalS | None = Field(
        None, description="Tell again after this long what lasts; what comes again, no sooner than this."
    )
    metric: Text = Field("", max_length=255, description="For metric: its name.")
    above: Bound | None = Field(None, description="For metric.")
    below: Bound | None = Field(None, description="For metric.")


class NewRule(RuleChange):
    queue: QueueName | None = Field(None, description="Of which queue's jobs; absent: of the caller's own.")


class RuleBody(Body):
    id: str
    owner: str
    queue: str | None
    on: list[str]
    level: Level
    channels: list[str]
    after_s: int | None
    every_s: int | None
    metric: str
    above: float | None
    below: float | None
    created_at: str


class Rules(Body):
    items: list[RuleBody]


class DeliveryBody(Body):
    id: str
    on: str = Field(description="What happened.")
    level: Level
    title: Told
    said: Told
    at: str = Field(description="When it happened.")
    job_id: str | None
    job_name: str | None
    queue: str | None
    receiver: str = Field(description="`user:NAME` or `queue:NAME`.")
    channel: str | None = Field(description="The id of the channel; null: it is only listed here.")
    state: DeliveryState
    n_attempts: int
    next_at: str | None = Field(description="While it waits: when it is sent.")
    done_at: str | None
    error: Told | None = Field(description="Why the last attempt failed.")


class Deliveries(Body):
    items: list[DeliveryBody]


class MailServerFields(Body):
    host: Text = Field(min_length=1, max_length=255)
    port: int = Field(25, ge=1, le=65_535)
    security: Literal["none", "starttls", "tls"] = "none"
    sender: Text = Field("", max_length=320, description="The address that mail comes from.")
    username: Text = Field("", max_length=255)


class MailServerChange(MailServerFields):
    password: Text | None = Field(
        None, max_length=1024, repr=False, description="Absent: the one that is stored stays. Empty: none."
    )


class MailServerBody(MailServerFields):
    has_password: bool


class AlertSettingsChange(Body):
    mail: MailServerChange | None = None
    private_networks: list[Text] = Field(
        [], max_length=64, description="Networks such as 10.0.0.0/8 to which webhooks may lead."
    )


class AlertSettingsBody(Body):
    mail: MailServerBody | None
    private_networks: list[str]


def channel_view(channel: Channel) -> dict[str, Any]:
    return {
        "id": channel.id,
        "name": channel.name,
        "kind": channel.kind.value,
        "owner": channel.owner,
        "queue": channel.queue or None,
        "target": channel.target,
        "has_secret": channel.has_secret,
        "language": channel.language,
        "zone": channel.zone,
        "quiet": channel.quiet,
        "quiet_level": channel.quiet_level,
        "is_enabled": channel.is_enabled,
        "created_at": instant(channel.created_at),
        "updated_at": instant(channel.updated_at),
    }


def channel_changes(body: ChannelFields) -> dict[str, Any]:
    """The fields of a channel that a body names; where it leads is apart."""
    named = body.model_fields_set - {"address", "secret", "kind", "queue"}
    return {name: value for name in named if (value := getattr(body, name)) is not None}


def rule_view(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "owner": rule.owner,
        "queue": rule.queue or None,
        "on": list(rule.on),
        "level": rule.level,
        "channels": list(rule.channels),
        "after_s": rule.after_s,
        "every_s": rule.every_s,
        "metric": rule.metric,
        "above": rule.above,
        "below": rule.below,
        "created_at": instant(rule.created_at),
    }


def rule_of(body: RuleChange, queue: str = "") -> Rule:
    return Rule(
        id="",
        owner="",
        on=tuple(dict.fromkeys(body.on)),
        queue=queue,
        level=body.level,
        channels=tuple(body.channels),
        after_s=body.after_s,
        every_s=body.every_s,
        metric=body.metric,
        above=body.above,
        below=body.below,
    )


def delivery_view(delivery: Delivery, title: Message) -> dict[str, Any]:
    notice = delivery.notice
    is_waiting = delivery.state is DeliveryState.WAITING
    return {
        "id": delivery.id,
        "on": notice.on,
        "level": notice.level,
        "title": told(title),
        "said": told(notice.said),
        "at": instant(notice.at),
        "job_id": notice.job_id or None,
        "job_name": notice.job_name or None,
        "queue": notice.queue or None,
        "receiver": delivery.scope,
        "channel": delivery.channel_id or None,
        "state": delivery.state.value,
        "n_attempts": delivery.n_attempts,
        "next_at": instant(delivery.next_at) if is_waiting else None,
        "done_at": instant(delivery.done_at),
        "error": told(delivery.error) if delivery.error else None,
    }
