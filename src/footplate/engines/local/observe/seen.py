"""What the engine tells of a task: by its records, or as running while it is watched."""

from __future__ import annotations

from footplate.domain.states import TaskState
from footplate.engines.base import Observation
from footplate.engines.local.observe.task import Observed
from footplate.engines.local.observe.watches import TaskKey, Watch


def observation(key: TaskKey, observed: Observed | None, watch: Watch | None) -> Observation:
    who = (key.attempt_id, key.role, key.index)
    if observed is None:
        started_at = watch.started_at if watch else None
        return Observation(*who, TaskState.RUNNING, started_at=started_at, run=key.run)
    return Observation(
        *who,
        observed.state,
        observed.exit_code,
        observed.started_at,
        observed.finished_at,
        observed.detail,
        key.run,
        observed.cause,
        observed.limit_bytes,
        observed.peak_bytes,
    )
