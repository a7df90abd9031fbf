"""Enforces time limits and deadlines."""

from __future__ import annotations

from collections.abc import Callable

from footplate.control.context import Context
from footplate.domain.overdue import overdue
from footplate.domain.states import JobState


async def enforce_limits(context: Context, hint: Callable[[str], None]) -> None:
    """Ask all jobs to stop that are over time."""
    now = context.clock.now()
    board = list(context.store.board.values())
    await context.store.apply_all((job.id, event) for job in board if (event := overdue(job, now)))
    for job in board:
        if job.spec.keep_on_failure_s is not None and job.state is JobState.RUNNING:
            # What is kept goes on after its end, so that no engine may notice the end by itself.
            hint(job.attempt_id)
