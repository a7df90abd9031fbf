"""Who changed what about people, queues, nodes, images, secrets, and jobs of other people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from footplate.store.rows import dumps
from footplate.store.tables import audit


@dataclass(frozen=True, slots=True)
class AuditRecord:
    seq: int
    at: float
    actor: str
    action: str
    subject: str
    detail: Mapping[str, Any]


def record(
    connection: sa.Connection, at: float, actor: str, action: str, subject: str, detail: Mapping[str, Any]
) -> None:
    values = {"at": at, "actor": actor, "action": action, "subject": subject, "detail": dumps(dict(detail))}
    connection.execute(sa.insert(audit), values)


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which records somebody wants to see; what is absent, or empty, is any."""

    actor: str = ""
    action: str = ""
    subject: str = ""
    since: float | None = None
    until: float | None = None


def page(connection: sa.Connection, wanted: AuditFilter, before: int | None, limit: int) -> list[AuditRecord]:
    """The newest records first, those before a number."""
    query = sa.select(audit).where(*_conditions(wanted)).order_by(audit.c.seq.desc()).limit(limit)
    if before is not None:
        query = query.where(audit.c.seq < before)
    return [
        AuditRecord(row.seq, row.at, row.actor, row.action, row.subject, json.loads(row.detail))
        for row in connection.execute(query)
    ]


def last_actor(connection: sa.Connection, action: str, subject: str) -> str:
    """Who did this to that last; empty if nobody did."""
    query = sa.select(audit.c.actor).where(audit.c.action == action, audit.c.subject == subject)
    return connection.scalar(query.order_by(audit.c.seq.desc()).limit(1)) or ""


def _conditions(wanted: AuditFilter) -> list[sa.ColumnElement[bool]]:
    found: list[sa.ColumnElement[bool]] = []
    if wanted.actor:
        found.append(audit.c.actor == wanted.actor)
    if wanted.action:
        found.append(audit.c.action == wanted.action)
    if wanted.subject:
        found.append(audit.c.subject.icontains(wanted.subject, autoescape=True))
    if wanted.since is not None:
        found.append(audit.c.at >= wanted.since)
    if wanted.until is not None:
        found.append(audit.c.at < wanted.until)
    return found
