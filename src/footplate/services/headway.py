"""How far running jobs are."""

from __future__ import annotations

from footplate.domain.headway import EPOCH_NAMES, STEP_NAMES, Headway, Reached, headway, total_in
from footplate.domain.listing import JobLine
from footplate.domain.metrics import TOTAL_EPOCHS, TOTAL_STEPS, TOTALS, Point
from footplate.domain.states import JobState
from footplate.services.platform import Platform


def headway_of(platform: Platform, line: JobLine) -> Headway | None:
    """How far a running job is, as memory knows it; None when it tells neither steps nor epochs."""
    job = platform.store.board.get(line.id) if line.state is JobState.RUNNING else None
    if job is None:
        return None
    first: Point | None = None
    last: Point | None = None
    totals: dict[str, float] = {}
    for task in job.tasks[:1]:
        for name, curve in platform.metrics.known(job.attempt_id, task.name).items():
            if curve.last is None or curve.first is None:
                continue
            if name in TOTALS.values():
                totals[name] = curve.last.value
            elif last is None or _is_farther(curve.last, last):
                first, last = curve.first, curve.last
    if first is None or last is None or (last.step is None and last.epoch is None):
        return None
    parameters = job.spec.parameters
    return headway(
        Reached(first.at, first.step, first.epoch),
        Reached(last.at, last.step, last.epoch),
        totals.get(TOTAL_STEPS) or total_in(parameters, STEP_NAMES),
        totals.get(TOTAL_EPOCHS) or total_in(parameters, EPOCH_NAMES),
        platform.clock.now(),
    )


def _is_farther(one: Point, other: Point) -> bool:
    return (one.step or -1, one.epoch or -1.0) > (other.step or -1, other.epoch or -1.0)
