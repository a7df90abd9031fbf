"""The fields of what a job wants done when something happens: alerts, rules for failures, hangs."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any

from footplate.domain import spec as s
from footplate.domain.alerts import LEVELS, OF_JOBS
from footplate.domain.fields import Field, ListOf, Nullable, Record
from footplate.domain.kinds import Choice, Duration, Instant, Integer, Number, Text
from footplate.domain.problems import Problems, join

FAILURE_ACTIONS = ("retry", "retry_elsewhere", "stop")
FAILURE_CAUSES = ("oom", "lost", "hang")
HANG_ACTIONS = ("notify", "restart", "stop")
SIGNALS = tuple(sorted(one.name for one in signal.Signals))
WORD = Text(255, 1, r"\S{1,255}", "word")


_NEEDS = {"deadline": "at", "overtime": "after_s", "no_progress": "after_s", "metric": "metric"}


def _check_alert(alert: Mapping[str, Any], path: str, problems: Problems) -> None:
    needs = _NEEDS.get(alert["on"])
    if needs and alert[needs] in (None, ""):
        problems.add(join(path, needs.removesuffix("_s")), "required_for_alert", event=alert["on"])
    if alert["on"] == "metric" and alert["above"] is None and alert["below"] is None:
        problems.add(join(path, "above"), "bound_for_metric")


ALERT = Record(
    s.Alert,
    (
        Field("on", Choice(OF_JOBS), "What happens."),
        Field(
            "to",
            ListOf(WORD, 32),
            "Channels of the owner or of the queue, or users, by name; the owner when absent.",
            (),
        ),
        Field("level", Choice(LEVELS), "How grave it is.", "info"),
        Field(
            "after",
            Nullable(Duration(1, 365 * 86400)),
            "For overtime and no_progress: after how long.",
            None,
            "after_s",
        ),
        Field(
            "at", Nullable(Instant()), "For deadline: when; without a zone as for the job's deadline.", None
        ),
        Field(
            "every",
            Nullable(Duration(60, 365 * 86400)),
            "Tell again after this long what lasts; what comes again, no sooner than after this long.",
            None,
            "every_s",
        ),
        Field("metric", Text(255), "For metric: its name.", ""),
        Field("above", Nullable(Number()), "For metric: told when it is above this.", None),
        Field("below", Nullable(Number()), "For metric: told when it is below this.", None),
    ),
    checks=(_check_alert,),
)


def _check_rule(rule: Mapping[str, Any], path: str, problems: Problems) -> None:
    if not any(rule[name] for name in ("exit_codes", "signals", "causes", "log")):
        problems.add(path, "rule_matches_nothing")


FAILURE_RULE = Record(
    s.FailureRule,
    (
        Field("action", Choice(FAILURE_ACTIONS), "What to do."),
        Field("exit_codes", ListOf(Integer(1, 255), 64), "Exit codes of the failed task.", ()),
        Field("signals", ListOf(Choice(SIGNALS), 32), "Signals that ended it.", ()),
        Field("causes", ListOf(Choice(FAILURE_CAUSES), 3), "What was behind it.", ()),
        Field("log", Text(200), "Words in the last 64 KiB of its log, or a /pattern/ between slashes.", ""),
        Field("times", Integer(1, 1000), "How often this rule may retry, beside the job's own retry.", 3),
    ),
    checks=(_check_rule,),
)
HANG = Record(
    s.HangPolicy,
    (
        Field(
            "after",
            Duration(5, 30 * 86400),
            "Time without output and with idle CPU and GPU.",
            attribute="after_s",
        ),
        Field("action", Choice(HANG_ACTIONS), "Notify only, restart the whole job, or stop it.", "notify"),
        Field("tasks", Choice(("any", "all")), "Whether one idle task is enough, or all must be.", "any"),
    ),
    short="after",
)
