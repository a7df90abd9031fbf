"""The exit code of a job: that of the task that decided its end."""

from __future__ import annotations

from collections.abc import Iterable

from footplate.domain.states import JobState, Reason, ReasonCode


def exit_code_of(state: JobState, reason: Reason, codes: Iterable[int | None]) -> int | None:
    """Say how a job ended, by its reason or else by its tasks; None while that is open."""
    if state is JobState.SUCCEEDED:
        return 0
    if not state.is_final and reason.code is not ReasonCode.KEPT:
        return None
    decided = reason.details.get("exit_code")
    return decided if isinstance(decided, int) else next((code for code in codes if code), None)
