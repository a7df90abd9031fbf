"""Reports of what jobs used over REST."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response

from footplate.domain.accounting import Account, report
from footplate.server.auth import Signed, Wired
from footplate.server.moments import read_instant
from footplate.server.parts import Parts
from footplate.server.spreadsheet import csv_lines
from footplate.services import accounting
from footplate.services.access import Caller
from footplate.wire.accounting import (
    COLUMNS,
    COST_COLUMNS,
    AccountingReport,
    JobUse,
    account_row,
    line_view,
    use_view,
)
from footplate.wire.body import Text
from footplate.wire.convert import instant

router = APIRouter(tags=["accounting"])

DEFAULT_PERIOD_S = 30 * 24 * 3600.0


@dataclass(frozen=True, slots=True)
class _Asked:
    user: str
    queue: str
    since: float | None
    until: float | None

    def period(self, now: float) -> tuple[float, float]:
        until = now if self.until is None else self.until
        return until - DEFAULT_PERIOD_S if self.since is None else self.since, until


def _asked(
    user: Annotated[Text, Query(max_length=255, description="Only jobs of this person.")] = "",
    queue: Annotated[Text, Query(max_length=63, description="Only jobs of this queue.")] = "",
    since: Annotated[
        Text, Query(max_length=64, description="From this time on; by default 30 days before the end.")
    ] = "",
    until: Annotated[Text, Query(max_length=64, description="Up to this time; by default now.")] = "",
) -> _Asked:
    return _Asked(user, queue, read_instant(since, "since"), read_instant(until, "until"))


Asked = Annotated[_Asked, Depends(_asked)]


async def _accounts(parts: Parts, caller: Caller, asked: _Asked) -> tuple[list[Account], float, float]:
    since, until = asked.period(parts.platform.clock.now())
    found = await accounting.accounts(parts.platform, caller, since, until, asked.user, asked.queue)
    return found, since, until


@router.get("/accounting", response_model=AccountingReport)
async def summary(
    parts: Wired, caller: Signed, asked: Asked, by: Literal["job", "user", "queue", "tag"] = "job"
) -> dict[str, Any]:
    """What jobs used in a period: one's own, those of queues that one administers, all for platform admins.

    A job with several tags counts for each of them, and once in the total.
    """
    accounts, since, until = await _accounts(parts, caller, asked)
    lines, total = report(accounts, by)
    book = parts.platform.price_book
    return {
        "since": instant(since),
        "until": instant(until),
        "items": [line_view(line, book) for line in lines],
        "total": line_view(total, book),
        "currency": book.currency,
    }


@router.get(
    "/accounting/export",
    response_class=Response,
    responses={200: {"content": {"text/csv": {}}, "description": "One job a line."}},
)
async def export(parts: Wired, caller: Signed, asked: Asked) -> Response:
    """What each job used in a period, as CSV."""
    accounts, _, _ = await _accounts(parts, caller, asked)
    book = parts.platform.price_book
    rows = sorted((account_row(one, book) for one in accounts), key=lambda row: str(row[0]))
    columns = (*COLUMNS, *COST_COLUMNS) if book.are_set else COLUMNS
    headers = {"Content-Disposition": 'attachment; filename="accounting.csv"'}
    return Response(csv_lines([columns, *rows]), media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/jobs/{job_id}/cost", response_model=JobUse)
async def of_job(parts: Wired, caller: Signed, job_id: str) -> dict[str, Any]:
    """What a job has used so far, and what that cost; jobs that run count up to now."""
    job, used, cost = await accounting.account_of(parts.platform, caller, job_id)
    return use_view(job.spec, used, cost, parts.platform.price_book)
