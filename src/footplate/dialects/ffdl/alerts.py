"""The alerts of a Prophecis manifest: events, deadlines and overtime."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from footplate.dialects.ffdl.amounts import number, text
from footplate.dialects.translation import Notes
from footplate.domain.alerts import LEVELS
from footplate.domain.problems import Problems
from footplate.domain.spec import Alert

_EVENTS = {"COMPLETED": "succeeded", "FAILED": "failed"}
_WORDS = {ours: theirs for theirs, ours in _EVENTS.items()}
_MOMENT = "%Y-%m-%d %H:%M:%S"
MOST = 64


def take_alerts(given: Any, ours: dict[str, Any], notes: Notes, problems: Problems) -> None:
    """Make alerts of `job_alert`; what Prophecis would refuse is refused."""
    if not given:
        return
    if not isinstance(given, Mapping):
        problems.add("job_alert", "ffdl_alert_form")
        return
    alerts = [one for one in _all(given, problems) if one is not None]
    for number_, (theirs, _alert) in enumerate(alerts):
        notes.became(theirs, f"alerts[{number_}]")
        notes.became(f"{theirs}.receiver", f"alerts[{number_}].to")
    if alerts:
        ours["alerts"] = [alert for _, alert in alerts][:MOST]


def _all(given: Mapping[str, Any], problems: Problems) -> Iterator[tuple[str, dict[str, Any]] | None]:
    for kind, read in (("event", _event), ("deadline", _deadline), ("overtime", _overtime)):
        entries = given.get(kind) or []
        if not isinstance(entries, list):
            problems.add(f"job_alert.{kind}", "ffdl_alert_form")
            continue
        for place, entry in enumerate(entries[:MOST]):
            path = f"job_alert.{kind}[{place}]"
            if not isinstance(entry, Mapping):
                problems.add(path, "ffdl_alert_form")
                continue
            made = read(entry, path, problems)
            yield None if made is None else (path, {**made, **_common(entry, path, problems)})


def _common(entry: Mapping[str, Any], path: str, problems: Problems) -> dict[str, Any]:
    level = text(entry.get("alert_level")) or "info"
    if level not in LEVELS:
        problems.add(f"{path}.alert_level", "not_a_choice", options=list(LEVELS), given=level[:40])
    receivers = [one for one in re.split(r"[,;\s]+", text(entry.get("receiver"))) if one]
    return {"level": level, **({"to": receivers} if receivers else {})}


def _event(entry: Mapping[str, Any], path: str, problems: Problems) -> dict[str, Any] | None:
    word = text(entry.get("event_checker")).upper()
    if word not in _EVENTS:
        problems.add(f"{path}.event_checker", "not_a_choice", options=list(_EVENTS), given=word[:40])
        return None
    return {"on": _EVENTS[word]}


def _deadline(entry: Mapping[str, Any], path: str, problems: Problems) -> dict[str, Any] | None:
    given = entry.get("deadline_checker")
    try:
        moment = given if isinstance(given, datetime) else datetime.strptime(text(given), _MOMENT)  # noqa: DTZ007
    except ValueError:
        problems.add(f"{path}.deadline_checker", "ffdl_alert_moment", given=text(given)[:40])
        return None
    at = moment.replace(microsecond=0).isoformat()
    return {"on": "deadline", "at": at, **_every(entry, path, problems)}


def _overtime(entry: Mapping[str, Any], path: str, problems: Problems) -> dict[str, Any] | None:
    hours = number(entry.get("overtime_checker"))
    if hours is None or not 0 < hours <= 24 * 365:
        problems.add(f"{path}.overtime_checker", "ffdl_alert_hours")
        return None
    return {"on": "overtime", "after": max(1, int(hours * 3600)), **_every(entry, path, problems)}


def _every(entry: Mapping[str, Any], path: str, problems: Problems) -> dict[str, Any]:
    if text(entry.get("interval")) == "":
        return {}
    minutes = number(entry["interval"])
    if minutes is None or minutes != int(minutes) or not 1 <= minutes <= 60 * 24 * 365:
        problems.add(f"{path}.interval", "ffdl_alert_interval")
        return {}
    return {"every": int(minutes) * 60}


def write_alerts(alerts: Sequence[Alert]) -> tuple[dict[str, Any], bool]:
    """Write alerts as `job_alert`, as far as it can say them; and whether that is all of them."""
    found: dict[str, list[dict[str, str]]] = {"event": [], "deadline": [], "overtime": []}
    n_written = 0
    for alert in alerts:
        written = _written(alert)
        if written is not None:
            n_written += 1
            kind, entry = written
            known = {"alert_level": alert.level, "receiver": ",".join(alert.to)}
            found[kind].append({**entry, **_interval(alert), **known})
    return {kind: entries for kind, entries in found.items() if entries}, n_written == len(alerts)


def _written(alert: Alert) -> tuple[str, dict[str, str]] | None:
    if alert.on in _WORDS:
        return "event", {"event_checker": _WORDS[alert.on]}
    if alert.on == "deadline" and alert.at is not None:
        return "deadline", {"deadline_checker": datetime.fromtimestamp(alert.at, UTC).strftime(_MOMENT)}
    if alert.on == "overtime" and alert.after_s is not None:
        return "overtime", {"overtime_checker": f"{alert.after_s / 3600:.6g}"}
    return None


def _interval(alert: Alert) -> dict[str, str]:
    return {} if alert.every_s is None else {"interval": str(max(1, round(alert.every_s / 60)))}
