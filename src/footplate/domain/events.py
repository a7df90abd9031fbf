"""Events of a job (past participles), and the effects that follow from them (imperatives).

Events that speak of one attempt carry its number, so that news of an older attempt is recognised.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from footplate.domain.cluster import Placement, Whereabouts
from footplate.domain.messages import Message
from footplate.domain.pauses import Pauses
from footplate.domain.states import Reason


@dataclass(frozen=True, slots=True)
class Placed:
    at: float
    attempt: int
    placement: Placement


@dataclass(frozen=True, slots=True)
class HandedOver:
    """The job was given whole to an engine that places by itself; it waits there, as `reason` says."""

    at: float
    attempt: int
    placement: Placement
    reason: Reason


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A task runs; `where` is what its engine has chosen for it by itself, where it has."""

    at: float
    attempt: int
    role: str
    index: int
    run: int = 0
    where: Whereabouts | None = None


@dataclass(frozen=True, slots=True)
class TaskExited:
    """A task is over; `cause` says what ended it besides itself, `found` which rules' texts its log has.

    `log_bytes` is how long its log is by then, if it has failed; `pauses` are those of the platform.
    """

    at: float
    attempt: int
    role: str
    index: int
    exit_code: int
    detail: Message | None = None
    run: int = 0
    cause: str = ""
    found: frozenset[str] = frozenset()
    log_bytes: int = 0
    pauses: Pauses = field(default_factory=Pauses)


@dataclass(frozen=True, slots=True)
class TaskLost:
    """A task can no longer be found; `cause` is `tampered` when it has spoilt its own records."""

    at: float
    attempt: int
    role: str
    index: int
    detail: Message | None = None
    run: int = 0
    log_bytes: int = 0
    pauses: Pauses = field(default_factory=Pauses)
    cause: str = "lost"


@dataclass(frozen=True, slots=True)
class LaunchFailed:
    """The engine could not start the gang; `is_final` when trying again cannot help."""

    at: float
    attempt: int
    said: Message
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class StopAsked:
    """Somebody or a limit wants the job to end; `by` names the person, or is empty for the platform.

    `grace_s` is how long its tasks may take to end, where that is not what the job itself asks for.
    """

    at: float
    reason: Reason
    by: str = ""
    grace_s: float | None = None


@dataclass(frozen=True, slots=True)
class Preempted:
    """The job must give its place back and wait again, without using up a retry."""

    at: float
    attempt: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class Hung:
    """No task makes progress any more, and the job's policy is to do something about it."""

    at: float
    attempt: int
    said: Message


@dataclass(frozen=True, slots=True)
class HangSeen:
    """Tasks make no progress, and the job's policy is to say so and let it run."""

    at: float
    attempt: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class ProgressSeen:
    """Tasks that had made no progress make some again."""

    at: float
    attempt: int


@dataclass(frozen=True, slots=True)
class Released:
    """The environment that was kept after a failure is no longer needed; `by` is empty for the platform."""

    at: float
    by: str = ""


@dataclass(frozen=True, slots=True)
class TasksGone:
    """The engine has ended everything that the attempt had started; `pauses` are those of the platform."""

    at: float
    attempt: int
    pauses: Pauses = field(default_factory=Pauses)


@dataclass(frozen=True, slots=True)
class OthersGone:
    """The engine has ended every task but those that are kept after a failure."""

    at: float
    attempt: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The job can never start as it is."""

    at: float
    attempt: int
    reason: Reason


@dataclass(frozen=True, slots=True)
class WaitExplained:
    """The scheduler has said why the job does not start yet."""

    at: float
    attempt: int
    reason: Reason


# What of a job's configuration can be changed after the submit.
EDITABLE = ("name", "description", "priority", "shared", "tags")


@dataclass(frozen=True, slots=True)
class Edited:
    at: float
    by: str
    name: str | None = None
    description: str | None = None
    priority: int | None = None
    shared: bool | None = None
    tags: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class DeleteAsked:
    """The job goes to the trash, or away for good: record, logs, files."""

    at: float
    by: str
    for_good: bool = False


@dataclass(frozen=True, slots=True)
class Restored:
    """The job comes back from the trash."""

    at: float
    by: str


Event = (
    Placed
    | HandedOver
    | TaskStarted
    | TaskExited
    | TaskLost
    | LaunchFailed
    | StopAsked
    | Preempted
    | Hung
    | HangSeen
    | ProgressSeen
    | Released
    | TasksGone
    | OthersGone
    | Refused
    | WaitExplained
    | Edited
    | DeleteAsked
    | Restored
)


@dataclass(frozen=True, slots=True)
class LaunchTasks:
    attempt: int


@dataclass(frozen=True, slots=True)
class StopTasks:
    """End the attempt, except for tasks whose environment is kept: those (role, index) in `keep`."""

    attempt: int
    grace_s: float
    keep: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Reschedule:
    """Resources came back or a job waits: plan again."""


@dataclass(frozen=True, slots=True)
class RemoveJob:
    """Nothing of the job runs any more and it is to be forgotten: record, logs, files."""


Effect = LaunchTasks | StopTasks | Reschedule | RemoveJob
