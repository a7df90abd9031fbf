"""Times without a zone: here they are those of the user's clock, and the server is told which."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any


def in_my_zone(document: Mapping[str, Any]) -> dict[str, Any]:
    """Add the zone of this machine to the times of a job document that have none."""
    zoned = dict(document)
    if "deadline" in zoned:
        zoned["deadline"] = with_zone(zoned["deadline"])
    alerts = zoned.get("alerts")
    if isinstance(alerts, (list, tuple)):
        zoned["alerts"] = [_of_alert(one) for one in alerts]
    return zoned


def _of_alert(alert: Any) -> Any:
    if not isinstance(alert, Mapping) or "at" not in alert:
        return alert
    return {**alert, "at": with_zone(alert["at"])}


def with_zone(moment: Any) -> Any:
    """Write a time with its zone; what is no time is left to the server to refuse."""
    if isinstance(moment, str):
        try:
            read = datetime.fromisoformat(moment)
        except ValueError:
            return moment
        return moment if read.tzinfo else read.astimezone().isoformat()
    return moment.astimezone().isoformat() if isinstance(moment, datetime) else moment
