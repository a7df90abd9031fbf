"""Channels, rules of alerts, and how far they have been told."""

from __future__ import annotations

import json
from dataclasses import asdict, fields

import sqlalchemy as sa

from footplate.domain.alerts import Channel, ChannelKind, Rule
from footplate.domain.secret import queue_scope, user_scope
from footplate.store.rows import dumps
from footplate.store.tables import alert_rules, channels, cursors, deliveries

_LISTS = ("on", "channels")


def _channel(document: str) -> Channel:
    told = json.loads(document)
    return Channel(**{**told, "kind": ChannelKind(told["kind"])})


def all_channels(connection: sa.Connection) -> list[Channel]:
    found = connection.scalars(sa.select(channels.c.document).order_by(channels.c.scope, channels.c.name))
    return [_channel(document) for document in found]


def sealed_of(connection: sa.Connection, channel_id: str) -> bytes | None:
    found = connection.scalar(sa.select(channels.c.sealed).where(channels.c.id == channel_id))
    return None if found is None else bytes(found)


def put_channel(connection: sa.Connection, channel: Channel, sealed: bytes) -> None:
    """Store a channel in place of the one of its id."""
    remove_channel(connection, channel.id)
    row = {"id": channel.id, "scope": channel.scope, "name": channel.name, "sealed": sealed}
    connection.execute(sa.insert(channels), {**row, "document": dumps(asdict(channel))})


def remove_channel(connection: sa.Connection, channel_id: str) -> bool:
    return connection.execute(sa.delete(channels).where(channels.c.id == channel_id)).rowcount > 0


def all_rules(connection: sa.Connection) -> list[Rule]:
    known = {one.name for one in fields(Rule)}
    rules = []
    for document in connection.scalars(sa.select(alert_rules.c.document).order_by(alert_rules.c.id)):
        told = {name: value for name, value in json.loads(document).items() if name in known}
        rules.append(Rule(**{**told, **{name: tuple(told[name]) for name in _LISTS}}))
    return rules


def put_rule(connection: sa.Connection, rule: Rule) -> None:
    remove_rule(connection, rule.id)
    row = {"id": rule.id, "scope": rule.scope, "document": dumps(asdict(rule))}
    connection.execute(sa.insert(alert_rules), row)


def remove_rule(connection: sa.Connection, rule_id: str) -> bool:
    return connection.execute(sa.delete(alert_rules).where(alert_rules.c.id == rule_id)).rowcount > 0


def remove_all_of_user(connection: sa.Connection, name: str) -> None:
    """Forget where notices for somebody went: a later account of the same name is somebody else."""
    _remove_scope(connection, user_scope(name))


def remove_all_of_queue(connection: sa.Connection, name: str) -> None:
    _remove_scope(connection, queue_scope(name))


def _remove_scope(connection: sa.Connection, scope: str) -> None:
    for table in (channels, alert_rules, deliveries):
        connection.execute(sa.delete(table).where(table.c.scope == scope))


def cursor(connection: sa.Connection, name: str) -> int | None:
    return connection.scalar(sa.select(cursors.c.seq).where(cursors.c.name == name))


def put_cursor(connection: sa.Connection, name: str, seq: int) -> None:
    moved = sa.update(cursors).where(cursors.c.name == name).values(seq=seq)
    if connection.execute(moved).rowcount == 0:
        connection.execute(sa.insert(cursors), {"name": name, "seq": seq})
