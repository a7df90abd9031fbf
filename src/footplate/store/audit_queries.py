"""Who changed what about people, queues, nodes, images and secrets; jobs have their own event log."""

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


def page(connection: sa.Connection, before: int | None, actor: str, limit: int) -> list[AuditRecord]:
    """The newest records first, those before a number."""
    query = sa.select(audit).order_by(audit.c.seq.desc()).limit(limit)
    if before is not None:
        query = query.where(audit.c.seq < before)
    if actor:
        query = query.where(audit.c.actor == actor)
    return [
        AuditRecord(row.seq, row.at, row.actor, row.action, row.subject, json.loads(row.detail))
        for row in connection.execute(query)
    ]
