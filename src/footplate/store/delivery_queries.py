"""Notices on their way, and what lasts and was told."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from footplate.domain.alerts import Delivery, DeliveryState, Notice
from footplate.domain.messages import Message, as_json, from_json
from footplate.store import statements
from footplate.store.rows import dumps
from footplate.store.tables import alarms, deliveries

_PUT = statements.insert_or_skip(deliveries)


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something that lasts: when it was told last, and how often."""

    key: str
    job_id: str
    n_told: int
    told_at: float


def _notice_text(notice: Notice) -> str:
    return dumps({name: as_json(getattr(notice, name)) for name in Notice.__dataclass_fields__})


def _notice(text: str) -> Notice:
    told = json.loads(text)
    return Notice(**{**told, "said": from_json(told["said"])})


def _delivery(row: Any) -> Delivery:
    return Delivery(
        id=row["id"],
        key=row["key"],
        scope=row["scope"],
        channel_id=row["channel_id"],
        notice=_notice(row["notice"]),
        state=DeliveryState(row["state"]),
        created_at=row["created_at"],
        next_at=row["next_at"],
        n_attempts=row["n_attempts"],
        error=from_json(json.loads(row["error"])) if row["error"] else None,
        done_at=row["done_at"],
    )


def add(connection: sa.Connection, new: Sequence[Delivery]) -> None:
    """Add deliveries; one whose key is there already is not added again."""
    rows = [
        {
            "id": one.id,
            "key": one.key,
            "scope": one.scope,
            "channel_id": one.channel_id,
            "job_id": one.notice.job_id,
            "notice": _notice_text(one.notice),
            "state": one.state.value,
            "n_attempts": one.n_attempts,
            "created_at": one.created_at,
            "next_at": one.next_at,
            "done_at": one.done_at,
            "error": "",
        }
        for one in new
    ]
    if rows:
        _PUT.run(connection, rows)


def due(connection: sa.Connection, now: float, limit: int, busy: Collection[str]) -> list[Delivery]:
    """Deliveries whose time has come, longest overdue first, but for those through busy channels."""
    d = deliveries.c
    query = sa.select(deliveries).where(d.state == DeliveryState.WAITING.value, d.next_at <= now)
    query = query.where(d.channel_id.not_in(busy)) if busy else query
    rows = connection.execute(query.order_by(d.next_at, d.id).limit(limit)).mappings()
    return [_delivery(row) for row in rows]


def next_due(connection: sa.Connection) -> float | None:
    d = deliveries.c
    waiting = d.state == DeliveryState.WAITING.value
    found: float | None = connection.scalar(sa.select(sa.func.min(d.next_at)).where(waiting))
    return found


def begin(connection: sa.Connection, delivery_id: str) -> None:
    """Count an attempt before it is made, so that the receiver can tell one that is repeated."""
    d = deliveries.c
    is_it = sa.and_(d.id == delivery_id, d.state == DeliveryState.WAITING.value)
    connection.execute(sa.update(deliveries).where(is_it).values(n_attempts=d.n_attempts + 1))


def end(
    connection: sa.Connection, delivery_id: str, state: DeliveryState, at: float, error: Message | None = None
) -> None:
    told = dumps(as_json(error)) if error else ""
    values = {"state": state.value, "done_at": at, "error": told}
    connection.execute(sa.update(deliveries).where(deliveries.c.id == delivery_id).values(**values))


def postpone(connection: sa.Connection, delivery_id: str, until: float, error: Message | None) -> None:
    told = {"error": dumps(as_json(error))} if error else {}
    changed = sa.update(deliveries).where(deliveries.c.id == delivery_id).values(next_at=until, **told)
    connection.execute(changed)


def again(connection: sa.Connection, delivery_id: str, at: float) -> None:
    """Put a delivery that has failed on its way once more."""
    values = {"state": DeliveryState.WAITING.value, "next_at": at, "done_at": None, "n_attempts": 0}
    connection.execute(sa.update(deliveries).where(deliveries.c.id == delivery_id).values(**values))


def find(connection: sa.Connection, delivery_id: str) -> Delivery | None:
    row = connection.execute(sa.select(deliveries).where(deliveries.c.id == delivery_id)).mappings().first()
    return None if row is None else _delivery(row)


def page(
    connection: sa.Connection, scopes: Sequence[str], before: str, limit: int, job_id: str, channel_id: str
) -> list[Delivery]:
    """Deliveries of some scopes, newest first."""
    d = deliveries.c
    query = sa.select(deliveries).where(d.scope.in_(scopes)).order_by(d.id.desc()).limit(limit)
    for column, value in ((d.job_id, job_id), (d.channel_id, channel_id)):
        query = query.where(column == value) if value else query
    query = query.where(d.id < before) if before else query
    return [_delivery(row) for row in connection.execute(query).mappings()]


def remove_before(connection: sa.Connection, at: float) -> int:
    """Forget deliveries that were done before an instant; return how many."""
    return connection.execute(sa.delete(deliveries).where(deliveries.c.done_at < at)).rowcount


def all_alarms(connection: sa.Connection) -> list[Alarm]:
    return [Alarm(**row) for row in connection.execute(sa.select(alarms)).mappings()]


def alarm(connection: sa.Connection, key: str) -> Alarm | None:
    row = connection.execute(sa.select(alarms).where(alarms.c.key == key)).mappings().first()
    return None if row is None else Alarm(**row)


def put_alarm(connection: sa.Connection, alarm: Alarm) -> None:
    remove_alarms(connection, [alarm.key])
    row = {"key": alarm.key, "job_id": alarm.job_id, "n_told": alarm.n_told, "told_at": alarm.told_at}
    connection.execute(sa.insert(alarms), row)


def remove_alarms(connection: sa.Connection, keys: Sequence[str]) -> None:
    connection.execute(sa.delete(alarms).where(alarms.c.key.in_(keys)))
