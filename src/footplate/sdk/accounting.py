"""Calls about what jobs used."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from footplate.sdk.connection import Connection
from footplate.sdk.zones import with_zone

Moment = str | datetime | None


class AccountingCalls:
    """The part of the client that knows what jobs used."""

    _connection: Connection

    def accounting(
        self, by: str = "job", since: Moment = None, until: Moment = None, user: str = "", queue: str = ""
    ) -> dict[str, Any]:
        """Report what jobs used in a period, by default the last 30 days, by job, user, queue or tag."""
        asked = _asked(since, until, user, queue)
        report: dict[str, Any] = self._connection.fetch("/accounting", by=by, **asked)
        return report

    def accounting_table(
        self, since: Moment = None, until: Moment = None, user: str = "", queue: str = ""
    ) -> str:
        """Read what each job used in a period as CSV."""
        asked = _asked(since, until, user, queue)
        return self._connection.request("GET", "/accounting/export", params=asked).text


def money(amount: float, currency: str) -> str:
    """Write an amount of money: two digits, and more for what is less than a hundredth."""
    shown = f"{amount:.2f}" if amount >= 0.01 or amount == 0 else f"{amount:.4f}"
    return f"{shown} {currency}".rstrip()


def _asked(since: Moment, until: Moment, user: str, queue: str) -> dict[str, str]:
    given = {"since": with_zone(since), "until": with_zone(until), "user": user, "queue": queue}
    return {name: value for name, value in given.items() if value}
