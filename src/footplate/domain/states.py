"""The states of jobs and tasks, and why a job is where it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from footplate.domain.messages import Message, plain_params


class JobState(StrEnum):
    QUEUED = "QUEUED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    STOPPED = "STOPPED"

    @property
    def is_final(self) -> bool:
        return self in FINAL_STATES

    @property
    def holds_resources(self) -> bool:
        return self in HOLDING_STATES


FINAL_STATES = frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.STOPPED})
HOLDING_STATES = frozenset({JobState.STARTING, JobState.RUNNING, JobState.STOPPING})
ACTIVE_STATES = frozenset(JobState) - FINAL_STATES


class TaskState(StrEnum):
    WAITING = "WAITING"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    EXITED = "EXITED"
    LOST = "LOST"

    @property
    def is_over(self) -> bool:
        return self in (TaskState.EXITED, TaskState.LOST)


class ReasonCode(StrEnum):
    """Why a job is in its state; stable words that programs may compare."""

    # waiting
    SUBMITTED = "submitted"
    INSUFFICIENT_RESOURCES = "insufficient_resources"
    BEHIND_OTHERS = "behind_others"
    RESERVED_FOR_ANOTHER = "reserved_for_another"
    QUEUE_LIMIT = "queue_limit"
    NO_NODE = "no_node"
    NO_PORTS = "no_ports"
    STORAGE_SILENT = "storage_silent"
    DISK_LOW = "disk_low"
    ENGINE_AWAY = "engine_away"
    HANDED_OVER = "handed_over"
    RETRYING = "retrying"
    RETRY_LATER = "retry_later"
    # starting
    PREPARING = "preparing"
    # running
    RUNNING = "running"
    # ends
    COMPLETED = "completed"
    TASK_FAILED = "task_failed"
    TASK_LOST = "task_lost"
    OUT_OF_MEMORY = "out_of_memory"
    HANG = "hang"
    KEPT = "kept"
    LAUNCH_FAILED = "launch_failed"
    STOPPED_BY_USER = "stopped_by_user"
    HALTED = "halted"
    IDLE = "idle"
    DELETED = "deleted"
    TIME_LIMIT = "time_limit"
    DEADLINE = "deadline"
    DISK_QUOTA = "disk_quota"
    PREEMPTED = "preempted"
    NEVER_FITS = "never_fits"


@dataclass(frozen=True, slots=True)
class Reason:
    """A code for programs, a sentence for people, and facts that the sentence does not tell."""

    code: ReasonCode
    said: Message
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """The sentence in English."""
        return str(self.said)

    @property
    def details(self) -> dict[str, Any]:
        """What programs may read: the numbers and names of the sentence, and the facts beside it."""
        return {**plain_params(self.said), **self.facts}
