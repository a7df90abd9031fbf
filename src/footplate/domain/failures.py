"""Failures: their classes and causes, and whether to retry.

A job's own rules come first, in their order; then the defaults. A *transient* failure is a fault of the
platform or its machines, and is tried again without using up the job's retries. A *permanent* one would
only repeat itself. Of the rest nothing is known, and the job's retries decide: so it is with every exit code
that the user's own command has, also with those that stand for signals, since nobody can tell who sent them.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from footplate.domain.spec import FailureRule, JobSpec
from footplate.domain.states import Reason

# With the pauses between them, enough for a registry that is away for two minutes.
MOST_TRANSIENT_RETRIES = 8
# What a shell answers for a command that it cannot start, with the code of the sentence that says so.
CANNOT_EXECUTE = {126: "command_not_executable", 127: "command_not_found"}
# Where uses of these retries are counted beside those of rules.
TRANSIENT = "transient"
OWN = "retry"


class FailureClass(StrEnum):
    TRANSIENT = "transient"
    PERMANENT = "permanent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Failure:
    """What is known of a failure.

    `cause` is oom, lost, tampered, hang, launch, rejected, or empty for an exit code.
    """

    reason: Reason
    exit_code: int | None = None
    cause: str = ""
    found: frozenset[str] = frozenset()
    node: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to try again, on whose account, out of how many times, and away from which node.

    `rule` is the number of the job's rule that decided, counted from 1; 0 when none did.
    """

    failure_class: FailureClass
    retries: bool
    account: str = ""
    most: int = 0
    used: int = 0
    avoids: str = ""
    rule: int = 0


def classify(failure: Failure) -> FailureClass:
    """Tell the class of a failure that no rule names."""
    if failure.cause in ("lost", "launch"):
        return FailureClass.TRANSIENT
    if failure.cause == "rejected" or (not failure.cause and failure.exit_code in CANNOT_EXECUTE):
        return FailureClass.PERMANENT
    return FailureClass.UNKNOWN


def judge(spec: JobSpec, failure: Failure, uses: Mapping[str, int]) -> Verdict:
    """Decide about a failure, given how often each account was used before."""
    kind = classify(failure)
    for number, rule in enumerate(spec.on_failure, start=1):
        if applies(rule, failure):
            if rule.action == "stop":
                return Verdict(kind, retries=False, rule=number)
            avoids = failure.node if rule.action == "retry_elsewhere" else ""
            verdict = _verdict(kind, f"rule-{number - 1}", rule.times, uses)
            return replace(verdict, avoids=avoids, rule=number)
    if kind is FailureClass.TRANSIENT:
        return _verdict(kind, TRANSIENT, MOST_TRANSIENT_RETRIES, uses)
    if kind is FailureClass.PERMANENT:
        return Verdict(kind, retries=False)
    return _verdict(kind, OWN, spec.retry, uses)


def _verdict(kind: FailureClass, account: str, most: int, uses: Mapping[str, int]) -> Verdict:
    used = uses.get(account, 0)
    return Verdict(kind, used < most, account, most, used)


def applies(rule: FailureRule, failure: Failure) -> bool:
    """Tell whether everything that a rule names matches."""
    if rule.exit_codes and failure.exit_code not in rule.exit_codes:
        return False
    if rule.signals:
        by = signal_of(failure.exit_code)
        if by is None or by.name not in rule.signals:
            return False
    if rule.causes and failure.cause not in rule.causes:
        return False
    return not rule.log or rule.log in failure.found


def signal_of(exit_code: int | None) -> signal.Signals | None:
    """Which signal an exit code stands for; None where there is no such signal."""
    if exit_code is None or exit_code <= 128:
        return None
    try:
        return signal.Signals(exit_code - 128)
    except ValueError:
        return None
