"""Who is to be told of an event: what the job itself asks for, and the rules of its owner and its queue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from footplate.domain.alerts import Channel, Rule
from footplate.domain.job import Job
from footplate.domain.secret import queue_scope, user_scope
from footplate.domain.spec import Alert
from footplate.store.alertbook import AlertBook


@dataclass(frozen=True, slots=True)
class Wish:
    """One wish to be told: of the job at `alerts[n]`, or of a rule; `source` names it."""

    source: str
    on: tuple[str, ...]
    level: str
    to: tuple[str, ...]
    # Whose rule it is; empty for a wish of the job itself.
    scope: str = ""
    after_s: int | None = None
    at: float | None = None
    every_s: int | None = None
    metric: str = ""
    above: float | None = None
    below: float | None = None
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where a notice goes: a channel, or only into the list of somebody who has none."""

    scope: str
    channel: Channel | None
    is_named_by_job: bool = False


def wishes_of(job: Job, book: AlertBook) -> Iterator[Wish]:
    """All wishes that look at a job."""
    for number, alert in enumerate(job.spec.alerts):
        yield _of_alert(number, alert)
    yield from rule_wishes(book, job.owner, job.spec.queue)


def rule_wishes(book: AlertBook, owner: str, queue: str) -> Iterator[Wish]:
    for rule in book.rules_for(owner, queue):
        yield of_rule(rule)


def _of_alert(number: int, alert: Alert) -> Wish:
    return Wish(
        f"job:{number}",
        (alert.on,),
        alert.level,
        alert.to,
        after_s=alert.after_s,
        at=alert.at,
        every_s=alert.every_s,
        metric=alert.metric,
        above=alert.above,
        below=alert.below,
    )


def of_rule(rule: Rule) -> Wish:
    return Wish(
        f"rule:{rule.id}",
        rule.on,
        rule.level,
        rule.channels,
        rule.scope,
        after_s=rule.after_s,
        every_s=rule.every_s,
        metric=rule.metric,
        above=rule.above,
        below=rule.below,
        since=rule.created_at,
    )


def receivers(wish: Wish, owner: str, queue: str, book: AlertBook) -> list[Receiver]:
    """Where the notices of a wish go, each channel once."""
    if wish.scope:
        chosen = [one for one in book.channels_in(wish.scope) if not wish.to or one.id in wish.to]
        return _through(wish.scope, chosen)
    if not wish.to:
        return _through(user_scope(owner), book.channels_in(user_scope(owner)))
    found = [one for word in wish.to for one in _named(word, owner, queue, book)]
    return list({(one.scope, one.channel and one.channel.id): one for one in found}.values())


def _named(word: str, owner: str, queue: str, book: AlertBook) -> list[Receiver]:
    for scope in (user_scope(owner), queue_scope(queue)):
        channel = book.channel_named(scope, word)
        if channel is not None:
            return [replace(one, is_named_by_job=True) for one in _through(scope, [channel])]
    return _through(user_scope(word), book.channels_in(user_scope(word)))


def _through(scope: str, channels: list[Channel]) -> list[Receiver]:
    usable = [Receiver(scope, channel) for channel in channels if channel.is_enabled]
    return usable or [Receiver(scope, None)]
