"""What a caller may do with channels: their own, and those of queues that they administer."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa

from footplate.domain.alerts import Channel, ChannelKind, Delivery, DeliveryState, Notice
from footplate.domain.errors import Conflict, InvalidInput, NotFound, Problem, problem
from footplate.domain.ids import job_id as time_sorted_id
from footplate.domain.messages import say
from footplate.domain.secret import queue_scope, user_scope
from footplate.notify.base import SendFailed, Target
from footplate.notify.senders import SENDERS
from footplate.services import audit
from footplate.services.access import RANKS, Caller, require_person
from footplate.services.alerts.quiet import is_hours, zone_named
from footplate.services.alerts.sending import label_of, target_of
from footplate.services.alerts.setting import surroundings
from footplate.services.alerts.telling import TEST, letter_of
from footplate.services.platform import Platform
from footplate.services.queues import require_admin_of
from footplate.store import alert_queries

MOST_OF_A_SCOPE = 50
_MAIL = re.compile(r"[^\s@<>,;:\"()\[\]\\]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


def scopes_of(platform: Platform, caller: Caller) -> list[str]:
    """Whose channels and rules the caller keeps: their own, and those of queues that they administer."""
    queues = [name for name in platform.cluster.queues if caller.rank_in(name) >= RANKS["admin"]]
    return [user_scope(caller.name), *map(queue_scope, queues)]


def require_scope(platform: Platform, caller: Caller, queue: str) -> None:
    """Refuse to keep something of a queue that the caller does not administer."""
    require_admin_of(platform, caller, queue, "alerts_for_admins")


def all_kept(platform: Platform, caller: Caller) -> list[Channel]:
    """The caller's own channels, and those of queues that they administer."""
    require_person(caller, "keep_channels")
    return [one for scope in scopes_of(platform, caller) for one in platform.alerts.channels_in(scope)]


def one_kept(platform: Platform, caller: Caller, channel_id: str) -> Channel:
    """One of those; any other looks as if it did not exist."""
    require_person(caller, "keep_channels")
    channel = platform.alerts.channels.get(channel_id)
    if channel is None or channel.scope not in scopes_of(platform, caller):
        raise NotFound("channel_unknown", channel=channel_id[:64])
    return channel


async def add(platform: Platform, caller: Caller, new: Channel, target: Target) -> Channel:
    """Add a channel for the caller, or for a queue."""
    require_person(caller, "keep_channels")
    require_scope(platform, caller, new.queue)
    now = platform.clock.now()
    made = replace(
        new,
        id=time_sorted_id(now, secrets.randbits(20)),
        owner=caller.name,
        target=_shown(new.kind, target.address),
        has_secret=bool(target.secret),
        created_at=now,
        updated_at=now,
    )
    _check(made, target)

    def unit(connection: sa.Connection) -> Channel:
        require_scope(platform, caller, made.queue)
        others = [one for one in alert_queries.all_channels(connection) if one.scope == made.scope]
        if len(others) >= MOST_OF_A_SCOPE:
            raise Conflict("too_many_channels", most=MOST_OF_A_SCOPE)
        if any(one.name == made.name for one in others):
            raise Conflict("channel_name_taken", channel=made.name)
        alert_queries.put_channel(connection, made, _sealed(platform, made.id, target))
        return made

    kept = await audit.change(
        platform, caller, "channel.added", made.name, unit, queue=made.queue, kind=made.kind.value
    )
    await reload(platform)
    return kept


async def edit(
    platform: Platform,
    caller: Caller,
    channel_id: str,
    changes: Mapping[str, Any],
    address: str | None = None,
    secret: str | None = None,
) -> Channel:
    """Change a channel; where it leads stays as it is unless something is said of it."""
    before = one_kept(platform, caller, channel_id)
    try:
        known = await target_of(platform, before)
    except SendFailed:
        known = Target("")
    target = Target(known.address if address is None else address, known.secret if secret is None else secret)
    after = replace(
        before,
        **changes,
        target=_shown(before.kind, target.address),
        has_secret=bool(target.secret),
        updated_at=platform.clock.now(),
    )
    _check(after, target)

    def unit(connection: sa.Connection) -> Channel:
        others = [one for one in alert_queries.all_channels(connection) if one.scope == after.scope]
        if all(one.id != after.id for one in others):
            raise NotFound("channel_unknown", channel=channel_id[:64])
        if any(one.name == after.name and one.id != after.id for one in others):
            raise Conflict("channel_name_taken", channel=after.name)
        alert_queries.put_channel(connection, after, _sealed(platform, after.id, target))
        return after

    kept = await audit.change(platform, caller, "channel.changed", after.name, unit, queue=after.queue)
    await reload(platform)
    return kept


async def remove(platform: Platform, caller: Caller, channel_id: str) -> None:
    """Delete a channel; what still waits for it is not sent."""
    channel = one_kept(platform, caller, channel_id)
    await audit.change(
        platform,
        caller,
        "channel.removed",
        channel.name,
        lambda connection: alert_queries.remove_channel(connection, channel_id),
        queue=channel.queue,
    )
    await reload(platform)


async def test(platform: Platform, caller: Caller, channel_id: str, url: str) -> None:
    """Send a letter now, quiet hours or not; raise `Conflict` with what the other side said against it."""
    channel = one_kept(platform, caller, channel_id)
    now = platform.clock.now()
    notice = Notice(TEST, "info", say("alert_test_sent_by", user=caller.name), now, channel=channel.name)
    made_id = time_sorted_id(now, secrets.randbits(20))
    delivery = Delivery(made_id, made_id, channel.scope, channel.id, notice, DeliveryState.WAITING, now, now)
    try:
        target = await target_of(platform, channel)
        letter = await letter_of(platform, url, delivery, channel)
        await SENDERS[channel.kind](letter, target, await surroundings(platform), now)
    except SendFailed as failure:
        raise Conflict("channel_test_failed", channel=channel.name, why=failure.said) from None


async def reload(platform: Platform) -> None:
    """Read channels and rules again, through the writer: the last to load has seen every change."""
    await platform.store.write(lambda tx: platform.alerts.load(tx.connection))


def _sealed(platform: Platform, channel_id: str, target: Target) -> bytes:
    return platform.vault.seal(json.dumps(asdict(target)), label_of(channel_id))


def _shown(kind: ChannelKind, address: str) -> str:
    """What may be told of where a channel leads: paths and queries of robots are their passwords."""
    if kind is ChannelKind.MAIL or not _is_web_address(address):
        return address[:255]
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.hostname}/…"


def _check(channel: Channel, target: Target) -> None:
    problems: list[Problem] = []
    if channel.kind is ChannelKind.MAIL:
        if not _MAIL.fullmatch(target.address):
            problems.append(problem("address", "not_mail_address"))
    elif not _is_web_address(target.address):
        problems.append(problem("address", "not_hook_address"))
    if channel.quiet and not is_hours(channel.quiet):
        problems.append(problem("quiet", "not_hours"))
    if zone_named(channel.zone) is None:
        problems.append(problem("zone", "zone_unknown", zone=channel.zone))
    if problems:
        raise InvalidInput(problems)


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return is_web and "@" not in parts.netloc and text.isascii() and text.isprintable() and " " not in text
