"""The kinds of lines in the event log: what happened, in a word for programs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from footplate.domain.states import JobState

EventKind = Literal[
    "submitted",
    "waiting",
    "starting",
    "start_delayed",
    "step",
    "progress",
    "running",
    "task_started",
    "task_exited",
    "task_lost",
    "task_retried",
    "service",
    "hang",
    "hang_over",
    "alert",
    "stop_asked",
    "stopping",
    "end_delayed",
    "requeued",
    "succeeded",
    "failed",
    "stopped",
    "released",
    "edited",
    "results_saved",
    "results_delayed",
    "model_registered",
    "model_not_registered",
    "expired",
    "delete_asked",
    "restored",
    "deleted",
]
# How the log tells that a job has come into a state.
OF_STATE: Mapping[JobState, EventKind] = MappingProxyType(
    {
        JobState.QUEUED: "requeued",
        JobState.STARTING: "starting",
        JobState.RUNNING: "running",
        JobState.STOPPING: "stopping",
        JobState.SUCCEEDED: "succeeded",
        JobState.FAILED: "failed",
        JobState.STOPPED: "stopped",
    }
)
