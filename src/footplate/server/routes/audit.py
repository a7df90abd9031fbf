"""The audit trail over REST, page by page and as a table."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response, StreamingResponse

from footplate.server.auth import Signed, Wired
from footplate.server.moments import read_instant
from footplate.server.parts import Parts
from footplate.server.spreadsheet import csv_lines
from footplate.services import audit
from footplate.services.access import Caller
from footplate.store.audit_queries import AuditFilter, AuditRecord
from footplate.wire.audit import Audit
from footplate.wire.body import Text
from footplate.wire.convert import instant

router = APIRouter(prefix="/audit", tags=["accounts"])

COLUMNS = ("seq", "at", "actor", "action", "subject", "detail")
AT_ONCE = 500


def _wanted(
    actor: Annotated[Text, Query(max_length=255, description="Only what this person did.")] = "",
    action: Annotated[
        Text, Query(max_length=64, description="Only this action, such as queue.changed.")
    ] = "",
    subject: Annotated[Text, Query(max_length=255, description="Only what has this in its name.")] = "",
    since: Annotated[Text, Query(max_length=64, description="Only from this time on.")] = "",
    until: Annotated[Text, Query(max_length=64, description="Only before this time.")] = "",
) -> AuditFilter:
    return AuditFilter(actor, action, subject, read_instant(since, "since"), read_instant(until, "until"))


Wanted = Annotated[AuditFilter, Depends(_wanted)]


@router.get("", response_model=Audit)
async def page(
    parts: Wired,
    caller: Signed,
    wanted: Wanted,
    before: Annotated[int | None, Query(ge=1, le=2**60, description="Only records before this one.")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> dict[str, Any]:
    """Who changed what about people, queues, nodes, images, secrets and jobs of others, newest first.

    For platform admins.
    """
    records = await audit.page(parts.platform, caller, wanted, before, limit)
    return {"items": [_view(one) for one in records]}


@router.get(
    "/export",
    response_class=Response,
    responses={200: {"content": {"text/csv": {}}, "description": "One record a line, newest first."}},
)
async def export(parts: Wired, caller: Signed, wanted: Wanted) -> Response:
    """The whole trail, or what a filter leaves of it, as CSV. For platform admins."""
    first = await audit.page(parts.platform, caller, wanted, None, AT_ONCE)
    headers = {"Content-Disposition": 'attachment; filename="audit.csv"'}
    return StreamingResponse(
        _table(parts, caller, wanted, first), media_type="text/csv; charset=utf-8", headers=headers
    )


async def _table(
    parts: Parts, caller: Caller, wanted: AuditFilter, records: list[AuditRecord]
) -> AsyncIterator[str]:
    yield csv_lines([COLUMNS])
    while records:
        yield csv_lines(_row(one) for one in records)
        records = await audit.page(parts.platform, caller, wanted, records[-1].seq, AT_ONCE)


def _view(record: AuditRecord) -> dict[str, Any]:
    at, detail = instant(record.at), dict(record.detail)
    return {
        "seq": record.seq,
        "at": at,
        "actor": record.actor,
        "action": record.action,
        "subject": record.subject,
        "detail": detail,
    }


def _row(record: AuditRecord) -> tuple[str, ...]:
    view = _view(record)
    detail = json.dumps(view["detail"], ensure_ascii=False)
    return tuple(str(value) for value in (*list(view.values())[:-1], detail))
