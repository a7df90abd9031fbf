"""Bodies of the REST API for reports of use."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from footplate.domain.accounting import Account, Line, Used
from footplate.domain.pricebook import PriceBook
from footplate.domain.prices import Prices, price_of
from footplate.domain.resources import GIB
from footplate.domain.spec import JobSpec
from footplate.wire.body import Body


class CostBody(Body):
    """What a job would cost."""

    currency: str
    per_hour: float
    at_most: float | None = Field(
        description="For the time limit and all retries; null when the job has no time limit."
    )


class UsedBody(Body):
    cpu_hours: float
    memory_gb_hours: float
    gpu_hours: float
    gpu_hours_by_type: dict[str, float] = Field(
        description="By the type that was asked for; cards of any type are under the empty name."
    )
    cost: float | None = Field(
        description="By the prices that the server had at the time; null when it has never had any."
    )


class AccountLine(UsedBody):
    key: str = Field(
        description="The ID of the job, the user, the queue or the tag; jobs without tags: empty."
    )
    n_jobs: int


class AccountingReport(Body):
    since: str
    until: str
    items: list[AccountLine] = Field(description="What used most comes first.")
    total: AccountLine
    currency: str = Field(description="Of the costs; empty when none is set.")


class JobUse(UsedBody):
    """What a job has used so far."""

    currency: str
    per_hour: float | None = Field(
        description="What it costs in an hour while it holds all that it asks for."
    )
    at_most: float | None = Field(description="What it costs at most by its time limit; null without one.")


def used_view(used: Used, cost: float, book: PriceBook) -> dict[str, Any]:
    """Show amounts times hours, and what they cost."""
    cards = {kind: _hours(seconds) for kind, seconds in used.gpu_s}
    return {
        "cpu_hours": _hours(used.cpu_s),
        "memory_gb_hours": _hours(used.memory_byte_s / GIB),
        "gpu_hours": _hours(sum(seconds for _, seconds in used.gpu_s)),
        "gpu_hours_by_type": cards,
        "cost": round(cost, 6) if book.are_set else None,
    }


def cost_view(spec: JobSpec, prices: Prices) -> dict[str, Any] | None:
    """Show what a job would cost; None where there are no prices."""
    cost = price_of(spec, prices)
    if cost is None:
        return None
    at_most = None if cost.at_most is None else round(cost.at_most, 6)
    return {"currency": prices.currency, "per_hour": round(cost.per_hour, 6), "at_most": at_most}


def use_view(spec: JobSpec, used: Used, cost: float, book: PriceBook) -> dict[str, Any]:
    """Show what a job has used so far."""
    would = cost_view(spec, book.now) or {"per_hour": None, "at_most": None}
    return {**used_view(used, cost, book), **would, "currency": book.currency}


def _hours(seconds: float) -> float:
    # A hundredth of a second of one.
    return round(seconds / 3600, 6)


def line_view(line: Line, book: PriceBook) -> dict[str, Any]:
    return {"key": line.key, "n_jobs": line.n_jobs, **used_view(line.used, line.cost, book)}


COLUMNS = ("job", "name", "user", "queue", "tags", "cpu_hours", "memory_gb_hours", "gpu_hours")
COST_COLUMNS = ("cost", "currency")


def account_row(account: Account, book: PriceBook) -> tuple[str | float, ...]:
    """Write what a job used as a line of a table; with what it cost, where there are prices."""
    seen = used_view(account.used, account.cost, book)
    known = (account.job_id, account.name, account.owner, account.queue, " ".join(account.tags))
    hours = (seen["cpu_hours"], seen["memory_gb_hours"], seen["gpu_hours"])
    return (*known, *hours, seen["cost"], book.currency) if book.are_set else (*known, *hours)
