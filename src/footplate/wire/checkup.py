"""Findings of `footplate doctor`: what this machine enforces, what it does not, and how to fix that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from footplate.domain.messages import Message, say

State = Literal["ok", "not held", "cannot tell"]
OK: State = "ok"
NOT_HELD: State = "not held"
UNKNOWN: State = "cannot tell"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of a check-up; without what `is_needed`, a server does not work as it should."""

    name: str
    state: State
    said: Message
    # What to do about it.
    advised: Message | None = None
    is_needed: bool = False

    @property
    def meaning(self) -> str:
        """What was found, in English."""
        return str(self.said)

    @property
    def advice(self) -> str:
        return str(self.advised or "")


Check = Callable[..., Iterable[Finding]]


def carry_out(checks: Sequence[tuple[str, Check]], *subjects: Any) -> list[Finding]:
    """Run checks one after the other; one that fails itself is a finding too, and ends no other."""
    found: list[Finding] = []
    for name, check in checks:
        try:
            found += check(*subjects)
        except Exception as error:  # noqa: BLE001  # the top of the loop: whatever it is, it is told
            found.append(
                Finding(name, UNKNOWN, say("check_failed", error=f"{type(error).__name__}: {error}"))
            )
    return found
