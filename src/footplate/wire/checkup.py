"""Findings of `footplate doctor`: what this machine enforces, what it does not, and how to fix that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from footplate.domain.messages import Message, say

State = Literal["ok", "failed", "unknown"]
OK: State = "ok"
FAILED: State = "failed"
UNKNOWN: State = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a check-up; without what `is_needed`, a server does not work as it should."""

    # What was checked.
    named: Message
    state: State
    said: Message
    # What to do about it.
    advised: Message | None = None
    is_needed: bool = False

    @property
    def name(self) -> str:
        return str(self.named)

    @property
    def meaning(self) -> str:
        """What was found, in English."""
        return str(self.said)

    @property
    def advice(self) -> str:
        return str(self.advised or "")


Check = Callable[..., Iterable[Finding]]


def carry_out(checks: Sequence[tuple[str, Check]], *subjects: Any) -> list[Finding]:
    """Run checks, each with the code of its name; one that breaks is a finding too, and ends no other."""
    found: list[Finding] = []
    for code, check in checks:
        try:
            found += check(*subjects)
        except Exception as error:  # noqa: BLE001  # the top of the loop: whatever it is, it is told
            failed = say("check_failed", error=f"{type(error).__name__}: {error}")
            found.append(Finding(say(code), UNKNOWN, failed))
    return found
