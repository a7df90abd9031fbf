"""Reads what a run has left behind and lists everything that must not be: values in, violations out.

The event log is replayed against the table of moves; rows, notes that the tasks themselves wrote, and what is
left on the machine are compared with it. Faults that a test injected are known by their *hits*: an end by
somebody else's hand is a violation unless that hand was the injector's.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from footplate.domain import events as ev
from footplate.domain.failures import TRANSIENT
from footplate.domain.moves import MOVES
from footplate.domain.states import FINAL_STATES, JobState

# One attempt of one task: job, attempt, task.
TaskId = tuple[str, int, str]
FIRST_SIGNAL_CODE = 129

_STATES = {state.value.lower(): state for state in JobState} | {"requeued": JobState.QUEUED}
del _STATES["queued"]
# What a line of the log tells of, where it tells of an event; the other events leave a new state only.
_TOLD: Mapping[str, type] = {
    "task_started": ev.TaskStarted,
    "task_exited": ev.TaskExited,
    "task_retried": ev.TaskExited,
    "task_lost": ev.TaskLost,
    "stop_asked": ev.StopAsked,
    "delete_asked": ev.DeleteAsked,
    "released": ev.Released,
}
_SILENT = (ev.Placed, ev.TasksGone, ev.OthersGone, ev.LaunchFailed, ev.Preempted, ev.Hung, ev.Refused)
_AFTER_THE_END = frozenset({"edited", "delete_asked", "restored", "deleted"})
# Told by whoever prepares a launch, who may be slower than the job.
_STEPS = frozenset({"step", "progress"})


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the event log."""

    seq: int
    job_id: str
    kind: str
    attempt: int = 0
    at: float = 0.0
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobRow:
    id: str
    state: str
    attempt: int = 0
    has_placement: bool = False
    is_deleting: bool = False


@dataclass(frozen=True, slots=True)
class TaskRow:
    job_id: str
    attempt: int
    task: str
    state: str
    exit_code: int | None = None
    detail: str = ""
    run: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """What a task wrote about itself: that it began, that it ended, or that it found another at work."""

    job_id: str
    attempt: int
    task: str
    run: int
    word: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is looked at; `answered` are jobs whose submit was, `removed` those deleted for good."""

    lines: Sequence[Line] = ()
    jobs: Sequence[JobRow] = ()
    tasks: Sequence[TaskRow] = ()
    notes: Sequence[Note] = ()
    answered: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    hits: frozenset[TaskId] = frozenset()
    free: Mapping[str, Any] = field(default_factory=dict)
    capacity: Mapping[str, Any] = field(default_factory=dict)
    leftovers: Sequence[str] = ()


def check(evidence: Evidence) -> list[str]:
    """List everything that is wrong; nothing is, when the list is empty."""
    stories = _replay(evidence)
    return [
        *_check_numbers(evidence.lines),
        *(fault for story in stories.values() for fault in story.faults),
        *_check_jobs(evidence, stories),
        *_check_tasks(evidence, stories),
        *_check_notes(evidence, stories),
        *_check_resources(evidence),
        *(f"left behind: {what}" for what in evidence.leftovers),
    ]


class _Story:
    """One job's life as its lines tell it, one after the other."""

    def __init__(self, job_id: str, hits: frozenset[TaskId]) -> None:
        self.job_id = job_id
        self.state: JobState | None = None
        self.attempt = 0
        self.is_gone = False
        self.placed: set[int] = set()
        self.n_retried: Counter[TaskId] = Counter()
        self.exits: dict[TaskId, int | None] = {}
        self.faults: list[str] = []
        self._hits = hits
        self._running: set[TaskId] = set()
        self._over: set[TaskId] = set()
        self._before: Line | None = None

    def take(self, line: Line) -> None:
        self._check_place(line)
        if line.kind in _STATES:
            self._move(line)
        elif line.kind == "deleted":
            self.is_gone = True
        elif "task" in line.data and line.kind in _TOLD:
            self._take_task(line, (line.job_id, line.attempt, line.data["task"]))
        self._before = line

    def _fault(self, line: Line, what: str) -> None:
        self.faults.append(f"job {self.job_id}, line {line.seq} ({line.kind}): {what}")

    def _check_place(self, line: Line) -> None:
        if (self.state is None) != (line.kind == "submitted"):
            self._fault(line, "a job begins with its submit, once")
        if self.state is None:
            self.state = JobState.QUEUED
        if self.is_gone:
            self._fault(line, "the job was deleted before")
        if self.state in FINAL_STATES and line.kind not in _AFTER_THE_END | _STEPS:
            self._fault(line, f"the job is {self.state} and over")
        is_right = line.attempt <= self.attempt if line.kind in _STEPS else line.attempt == self.attempt
        if not is_right:
            self._fault(line, f"it speaks of attempt {line.attempt}; the job is at {self.attempt}")

    def _move(self, line: Line) -> None:
        assert self.state is not None
        target = _STATES[line.kind]
        told = _TOLD.get(self._before.kind) if self._before is not None else None
        causes = (*_SILENT, told) if told is not None else _SILENT
        if not any(target in MOVES.get((self.state, cause), ()) for cause in causes):
            self._fault(line, f"no event leads from {self.state} to {target}")
        self._check_retry(line)
        if target is JobState.STARTING:
            if self.attempt in self.placed:
                self._fault(line, f"attempt {self.attempt} was placed before")
            self.placed.add(self.attempt)
        self.state = target
        self.attempt += line.kind == "requeued"

    def _check_retry(self, line: Line) -> None:
        """What was lost is tried again at the platform's cost, as long as that lasts; nothing else is."""
        if self._before is None or self.state is JobState.STOPPING:
            return
        is_free = line.kind == "stopping" and line.data.get("account") == TRANSIENT
        if self._before.kind == "task_exited" and is_free:
            self._fault(line, f"{self._before.data['task']} has an exit code, and is tried again for free")
        if self._before.kind != "task_lost":
            return
        is_used_up = line.data.get("class") == TRANSIENT and "tries" in line.data
        if line.kind in ("stopping", "failed") and line.data.get("account") != TRANSIENT and not is_used_up:
            self._fault(line, f"{self._before.data['task']} was lost, and is not tried again for that")

    def _take_task(self, line: Line, who: TaskId) -> None:
        if line.kind == "task_started":
            if who in self._running or who in self._over:
                self._fault(line, f"{who[2]} was started before")
            self._running.add(who)
        elif line.kind == "task_retried":
            if who not in self._over:
                self._fault(line, f"{who[2]} is started again and had not ended")
            self._over.discard(who)
            self.n_retried[who] += 1
        elif line.kind in ("task_exited", "task_lost"):
            if who in self._over:
                self._fault(line, f"{who[2]} ended before")
            self._running.discard(who)
            self._over.add(who)
            self.exits[who] = line.data.get("exit_code")
            self._check_end(line, who)

    def _check_end(self, line: Line, who: TaskId) -> None:
        if who in self._hits:
            return
        if line.kind == "task_lost":
            self._fault(line, f"{who[2]} was lost, and nobody had killed it")
        by_signal = (line.data.get("exit_code") or 0) >= FIRST_SIGNAL_CODE and "cause" not in line.data
        if by_signal and self.state is not JobState.STOPPING:
            self._fault(line, f"{who[2]} ended by a signal that nobody had sent")


def _replay(evidence: Evidence) -> dict[str, _Story]:
    stories: dict[str, _Story] = {}
    for line in evidence.lines:
        stories.setdefault(line.job_id, _Story(line.job_id, evidence.hits)).take(line)
    return stories


def _check_numbers(lines: Sequence[Line]) -> Iterator[str]:
    for expected, line in enumerate(lines, start=lines[0].seq if lines else 1):
        if line.seq != expected:
            yield f"the event log has number {line.seq} where {expected} is due"
            return


def _check_jobs(evidence: Evidence, stories: Mapping[str, _Story]) -> Iterator[str]:
    rows = {row.id: row for row in evidence.jobs}
    for job_id in sorted(evidence.answered - rows.keys() - evidence.removed):
        yield f"job {job_id} was answered and is lost"
    for job_id in sorted(rows.keys() | stories.keys()):
        if job_id not in evidence.answered:
            yield f"job {job_id} is there, and no submit was answered with it"
    for job_id in sorted(evidence.removed & rows.keys()):
        yield f"job {job_id} was deleted for good and is still there"
    for row in evidence.jobs:
        yield from _check_row(row, stories.get(row.id))


def _check_row(row: JobRow, story: _Story | None) -> Iterator[str]:
    if story is None:
        yield f"job {row.id} has no events"
        return
    if story.is_gone:
        yield f"job {row.id} is there after its log says that it was deleted"
    if (row.state, row.attempt) != (story.state, story.attempt):
        yield (
            f"job {row.id} is {row.state} in attempt {row.attempt}; "
            f"its events say {story.state} in attempt {story.attempt}"
        )
    if row.state not in FINAL_STATES:
        yield f"job {row.id} is still {row.state}"
    elif row.has_placement:
        yield f"job {row.id} is {row.state} and still holds its place"


def _check_tasks(evidence: Evidence, stories: Mapping[str, _Story]) -> Iterator[str]:
    recorded: defaultdict[str, set[int]] = defaultdict(set)
    for row in evidence.tasks:
        recorded[row.job_id].add(row.attempt)
        who = (row.job_id, row.attempt, row.task)
        yield from _check_task(row, who, stories.get(row.job_id))
    for job in evidence.jobs:
        story = stories.get(job.id)
        for attempt in sorted(story.placed - recorded[job.id]) if story else ():
            yield f"job {job.id} has no tasks of attempt {attempt}, which was placed"


def _check_task(row: TaskRow, who: TaskId, story: _Story | None) -> Iterator[str]:
    name = f"task {row.task} of job {row.job_id}, attempt {row.attempt},"
    if row.state == "EXITED" and row.exit_code is None and row.detail != "stopped":
        yield f"{name} has ended without an exit code"
    elif row.state == "LOST" and not row.detail:
        yield f"{name} is lost without a reason"
    elif row.state not in ("EXITED", "LOST"):
        yield f"{name} is still {row.state}"
    if story is None:
        return
    if row.run != story.n_retried[who]:
        yield f"{name} is at run {row.run}; its events say {story.n_retried[who]}"
    if who in story.exits and row.exit_code != story.exits[who]:
        yield f"{name} has exit code {row.exit_code}; its events say {story.exits[who]}"


def _check_notes(evidence: Evidence, stories: Mapping[str, _Story]) -> Iterator[str]:
    words: defaultdict[tuple[TaskId, int], Counter[str]] = defaultdict(Counter)
    for note in evidence.notes:
        words[(note.job_id, note.attempt, note.task), note.run][note.word] += 1
    for (who, run), seen in sorted(words.items()):
        name = f"task {who[2]} of job {who[0]}, attempt {who[1]}, run {run},"
        if seen["twice"]:
            yield f"{name} ran while another run of it did"
        if seen["start"] > 1:
            yield f"{name} was started {seen['start']} times"
        story = stories.get(who[0])
        if story is not None and run > story.n_retried[who]:
            yield f"{name} ran, and its events do not know of that run"
    yield from _check_whole(words, stories.values(), evidence.removed)


def _check_whole(
    words: Mapping[tuple[TaskId, int], Counter[str]], stories: Iterable[_Story], removed: frozenset[str]
) -> Iterator[str]:
    """What is said to have succeeded has noted its own end."""
    noted = {who[0] for who, _ in words}
    for story in stories:
        for who, code in story.exits.items() if story.job_id in noted - removed else ():
            if code == 0 and not words.get((who, story.n_retried[who]), Counter())["end"]:
                yield f"task {who[2]} of job {who[0]}, attempt {who[1]}, succeeded and never came to its end"


def _check_resources(evidence: Evidence) -> Iterator[str]:
    for name, amount in evidence.capacity.items():
        if evidence.free.get(name) != amount:
            yield f"of {amount} {name} only {evidence.free.get(name)} came back"
