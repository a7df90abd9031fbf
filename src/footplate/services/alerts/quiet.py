"""Quiet hours: what is not grave enough waits until they are over."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from footplate.domain.alerts import Channel, level_rank

_HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")


def is_hours(text: str) -> bool:
    """Tell whether a text names hours of a day such as `22:00-07:00`, which are not none."""
    found = _HOURS.fullmatch(text)
    return found is not None and found.group(1, 2) != found.group(3, 4)


@cache
def zone_named(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def quiet_until(channel: Channel, level: str, now: float) -> float | None:
    """When the channel may be used again; None when it may be used now."""
    found = _HOURS.fullmatch(channel.quiet)
    if found is None or level_rank(level) >= level_rank(channel.quiet_level):
        return None
    begins, ends = int(found[1]) * 60 + int(found[2]), int(found[3]) * 60 + int(found[4])
    here = datetime.fromtimestamp(now, zone_named(channel.zone) or ZoneInfo("UTC"))
    minute = here.hour * 60 + here.minute
    is_quiet = begins <= minute < ends if begins < ends else minute >= begins or minute < ends
    if not is_quiet:
        return None
    over = here.replace(hour=ends // 60, minute=ends % 60, second=0, microsecond=0)
    return (over if over > here else over + timedelta(days=1)).timestamp()
