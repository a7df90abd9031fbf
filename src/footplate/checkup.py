"""Findings of `footplate doctor`: what this machine enforces, what it does not, and how to fix that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

State = Literal["ok", "not held", "cannot tell"]
OK: State = "ok"
NOT_HELD: State = "not held"
UNKNOWN: State = "cannot tell"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a check-up; without what `is_needed`, a server does not work as it should."""

    name: str
    state: State
    meaning: str
    advice: str = ""
    is_needed: bool = False


Check = Callable[..., Iterable[Finding]]


def carry_out(checks: Sequence[tuple[str, Check]], *subjects: Any) -> list[Finding]:
    """Run checks one after the other; one that fails itself is a finding too, and ends no other."""
    found: list[Finding] = []
    for name, check in checks:
        try:
            found += check(*subjects)
        except Exception as error:  # noqa: BLE001  # the top of the loop: whatever it is, it is told
            found.append(Finding(name, UNKNOWN, f"the check failed: {type(error).__name__}: {error}"))
    return found
