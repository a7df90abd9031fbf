"""A submitted job as a value: its tasks, its state and the reason for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from footplate.domain.cluster import Placement
from footplate.domain.errors import InvalidTransition
from footplate.domain.messages import Message, say
from footplate.domain.spec import JobSpec
from footplate.domain.states import JobState, Reason, ReasonCode, TaskState


@dataclass(frozen=True, slots=True)
class Task:
    """One task of the current attempt."""

    role: str
    index: int
    state: TaskState = TaskState.WAITING
    node: str = ""
    address: str = ""
    gpus: tuple[int, ...] = ()
    ports: tuple[tuple[str, tuple[int, ...]], ...] = ()
    exit_code: int | None = None
    detail: Message | None = None
    started_at: float | None = None
    finished_at: float | None = None
    # How often it was started again by itself, and what ended it besides itself.
    run: int = 0
    cause: str = ""
    # Where in its log, which goes on over all its runs, the output of this run begins.
    log_start: int = 0
    # How many runs in a row were short, and until when it then pauses before it is started again.
    n_short_lived: int = 0
    not_before: float | None = None

    @property
    def name(self) -> str:
        return f"{self.role}-{self.index}"

    @property
    def has_failed(self) -> bool:
        """Whether it ended badly by itself; one that was stopped did not."""
        if self.cause == "stopped":
            return False
        return self.state is TaskState.LOST or (self.state is TaskState.EXITED and self.exit_code != 0)

    @property
    def has_succeeded(self) -> bool:
        return self.state is TaskState.EXITED and self.exit_code == 0

    def pauses_at(self, now: float) -> bool:
        """Whether it is not to be started yet; a clock that was set back behind its last start ends that."""
        if self.not_before is None or self.state is not TaskState.STARTING:
            return False
        return (self.started_at or 0.0) <= now < self.not_before


@dataclass(frozen=True, slots=True)
class Next:
    """Where a stopping job goes once nothing of it runs any more.

    `pause` is the number of the pause that comes before it is tried again; 0 when none does. `grace_s` is how
    long its tasks may take to end, where that is not what the job itself asks for.
    """

    state: JobState
    reason: Reason
    pause: int = 0
    grace_s: float | None = None


DELETED_GRACE_S = 2.0
JUST_SUBMITTED = Reason(ReasonCode.SUBMITTED, say("just_submitted"))


@dataclass(frozen=True, slots=True)
class Job:
    """A submitted job as it stands now."""

    id: str
    owner: str
    spec: JobSpec
    submitted_at: float
    queued_at: float
    state: JobState = JobState.QUEUED
    reason: Reason = JUST_SUBMITTED
    attempt: int = 0
    tasks: tuple[Task, ...] = ()
    placement: Placement | None = None
    next: Next | None = None
    started_at: float | None = None
    running_at: float | None = None
    finished_at: float | None = None
    # Retries by whose account they were: the job's own, those of a rule, those after faults of the platform.
    uses: Mapping[str, int] = field(default_factory=dict)
    avoids: tuple[str, ...] = ()
    # While it waits to be tried again: until when it pauses. It went back to the queue when the pause began.
    not_before: float | None = None
    n_short_lived: int = 0
    kept_until: float | None = None
    deleted_at: float | None = None
    is_deleting: bool = False
    # The number of the event that brought it to its state; 0 before it is stored.
    moved_by: int = 0
    # Since when it holds what it holds now.
    held_since: float | None = None

    @property
    def attempt_id(self) -> str:
        """What the current attempt is called by engines and logs."""
        return f"{self.id}.{self.attempt}"

    @property
    def is_handed_over(self) -> bool:
        """Whether it waits in an engine that places by itself."""
        return self.state is JobState.QUEUED and self.placement is not None

    @property
    def is_with_engine(self) -> bool:
        """Whether its engine has it, or is being given it, and nobody stops it."""
        return self.state in (JobState.STARTING, JobState.RUNNING) or self.is_handed_over

    @property
    def is_kept(self) -> bool:
        """Whether failed tasks can be entered although the job is at its end."""
        return self.kept_until is not None

    @property
    def grace_s(self) -> float:
        """How long its tasks may take to end; what was deleted is cleaned up soon."""
        given_s = None if self.next is None else self.next.grace_s
        asked_s = self.spec.grace_s if given_s is None else given_s
        return asked_s if self.deleted_at is None else min(asked_s, DELETED_GRACE_S)

    @property
    def kept(self) -> frozenset[tuple[str, int]]:
        """The tasks whose environment is kept, by role and index."""
        return frozenset((task.role, task.index) for task in self.tasks if self.is_kept and task.has_failed)

    @property
    def runs(self) -> dict[tuple[str, int], int]:
        """Which tasks were started again by themselves, and how often."""
        return {(task.role, task.index): task.run for task in self.tasks if task.run}

    def pausing(self, now: float) -> frozenset[tuple[str, int]]:
        """The tasks that are not to be started yet, by role and index."""
        return frozenset((task.role, task.index) for task in self.tasks if task.pauses_at(now))

    @property
    def retries_used(self) -> int:
        """How many of the job's own retries are gone."""
        return self.uses.get("retry", 0)

    def position(self, role: str, index: int) -> int:
        """Where a task stands among all; `InvalidTransition` when the job has none of that name."""
        position = 0
        for one in self.spec.roles:
            if one.name == role and 0 <= index < one.count:
                return position + index
            position += one.count
        raise InvalidTransition("task_unknown", job=self.id, task=f"{role}-{index}")

    def task(self, role: str, index: int) -> Task:
        return self.tasks[self.position(role, index)]


def submit(job_id: str, owner: str, spec: JobSpec, at: float) -> Job:
    """Make the job that a submit creates."""
    return Job(job_id, owner, spec, submitted_at=at, queued_at=at, tasks=fresh_tasks(spec))


def fresh_tasks(spec: JobSpec) -> tuple[Task, ...]:
    """Make the tasks of an attempt that has not been placed."""
    return tuple(Task(role.name, index) for role in spec.roles for index in range(role.count))
