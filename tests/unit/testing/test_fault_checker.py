"""The checker of runs with faults finds what is forged into a clean log, and nothing in a clean one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from footplate.testing.checker import Evidence, JobRow, Line, Note, TaskRow, check

JOB = "0123456789ab"


def log(*steps: str | tuple[str, dict[str, Any]]) -> list[Line]:
    """Lines of one job: kinds, with the attempt counted on after each requeue."""
    lines, attempt = [], 0
    for seq, step in enumerate(steps, start=1):
        kind, data = step if isinstance(step, tuple) else (step, {})
        if kind.startswith("task_"):
            data = {"task": "main-0", **data}
        lines.append(Line(seq, JOB, kind, attempt, float(seq), data))
        attempt += kind == "requeued"
    return lines


EXITED = ("task_exited", {"exit_code": 0})
FAILED = ("task_exited", {"exit_code": 3})
KILLED = ("task_exited", {"exit_code": 137})
CLEAN = log("submitted", "starting", "task_started", "running", EXITED, "succeeded")
ROW = JobRow(JOB, "SUCCEEDED")
TASK = TaskRow(JOB, 0, "main-0", "EXITED", 0)
NOTES = [Note(JOB, 0, "main-0", 0, "start"), Note(JOB, 0, "main-0", 0, "end")]
FINE = Evidence(
    CLEAN,
    [ROW],
    [TASK],
    NOTES,
    answered=frozenset({JOB}),
    free={"cpus": 4, "gpus": 0},
    capacity={"cpus": 4},
)


def retold(lines: list[Line], row: JobRow, *tasks: TaskRow, **changes: Any) -> Evidence:
    return replace(FINE, lines=lines, jobs=[row], tasks=list(tasks), notes=[], **changes)


def test_a_clean_run_has_no_faults() -> None:
    assert check(FINE) == []


@pytest.mark.parametrize(
    "evidence",
    [
        retold(
            log("submitted", "waiting", "starting", "task_started", "running", FAILED, "stopping", "requeued")
            + [
                replace(line, seq=line.seq + 8, attempt=1)
                for line in log("starting", "task_started", "running", EXITED, "succeeded")
            ],
            JobRow(JOB, "SUCCEEDED", 1),
            TaskRow(JOB, 0, "main-0", "EXITED", 3),
            TaskRow(JOB, 1, "main-0", "EXITED", 0),
        ),
        retold(
            log(
                *("submitted", "starting", "task_started", "running", FAILED, ("task_retried", {"run": 1})),
                *("task_started", EXITED, "succeeded"),
            ),
            ROW,
            replace(TASK, run=1),
        ),
        retold(
            log(
                "submitted",
                "starting",
                "task_started",
                "running",
                "stop_asked",
                "stopping",
                KILLED,
                "stopped",
            ),
            JobRow(JOB, "STOPPED"),
            replace(TASK, exit_code=137),
        ),
        retold(log("submitted", "delete_asked", "stopped"), JobRow(JOB, "STOPPED", is_deleting=True)),
        retold(
            log(
                "submitted", "starting", "task_started", "running", EXITED, "succeeded", "edited", "restored"
            ),
            ROW,
            TASK,
        ),
    ],
    ids=["retried", "task retried", "stopped", "deleted while it waits", "touched after its end"],
)
def test_other_clean_lives_have_no_faults(evidence: Evidence) -> None:
    assert check(evidence) == []


def test_a_job_deleted_for_good_leaves_its_events_only() -> None:
    lines = log(
        "submitted", "starting", "task_started", "running", EXITED, "succeeded", "delete_asked", "deleted"
    )
    gone = replace(FINE, lines=lines, jobs=[], tasks=[], notes=[], removed=frozenset({JOB}))
    assert check(gone) == []


FORGED = {
    "an illegal move": (
        retold(
            log("submitted", "starting", "task_started", "running", EXITED, "starting"),
            JobRow(JOB, "STARTING"),
        ),
        "no event leads from RUNNING to STARTING",
    ),
    "a state that the last event cannot bring": (
        retold(log("submitted", "starting", "task_started", "succeeded"), ROW, TASK),
        "no event leads from STARTING to SUCCEEDED",
    ),
    "a hole in the numbers": (
        replace(FINE, lines=[*CLEAN[:3], *(replace(line, seq=line.seq + 1) for line in CLEAN[3:])]),
        "has number 5 where 4 is due",
    ),
    "an attempt left out": (
        replace(FINE, lines=[*CLEAN[:1], *(replace(line, attempt=1) for line in CLEAN[1:])]),
        "it speaks of attempt 1; the job is at 0",
    ),
    "news after the end": (
        replace(
            FINE,
            lines=log("submitted", "starting", "task_started", "running", EXITED, "succeeded", "waiting"),
        ),
        "the job is SUCCEEDED and over",
    ),
    "a second submit": (
        replace(FINE, lines=log("submitted", "submitted")),
        "a job begins with its submit, once",
    ),
    "a task started twice": (
        replace(
            FINE,
            lines=log(
                "submitted", "starting", "task_started", "running", "task_started", EXITED, "succeeded"
            ),
        ),
        "main-0 was started before",
    ),
    "a task ended twice": (
        replace(
            FINE, lines=log("submitted", "starting", "task_started", "running", EXITED, EXITED, "succeeded")
        ),
        "main-0 ended before",
    ),
    "a task lost that nobody killed": (
        retold(
            log("submitted", "starting", "task_started", "running", "task_lost", "failed"),
            JobRow(JOB, "FAILED"),
            TaskRow(JOB, 0, "main-0", "LOST", detail="gone"),
        ),
        "was lost, and nobody had killed it",
    ),
    "a signal that nobody sent": (
        retold(
            log("submitted", "starting", "task_started", "running", KILLED, "failed"),
            JobRow(JOB, "FAILED"),
            replace(TASK, exit_code=137),
        ),
        "ended by a signal that nobody had sent",
    ),
    "a lost job": (replace(FINE, jobs=[], tasks=[]), "was answered and is lost"),
    "a job that nobody submitted": (
        replace(FINE, answered=frozenset()),
        "no submit was answered with it",
    ),
    "a deleted job that stays": (replace(FINE, removed=frozenset({JOB})), "is still there"),
    "a job that never ends": (
        retold(log("submitted", "starting", "task_started", "running"), JobRow(JOB, "RUNNING"), TASK),
        "is still RUNNING",
    ),
    "a row ahead of its log": (
        replace(FINE, jobs=[replace(ROW, attempt=1)]),
        "its events say SUCCEEDED in attempt 0",
    ),
    "a place that is still held": (
        replace(FINE, jobs=[replace(ROW, has_placement=True)]),
        "still holds its place",
    ),
    "a task without an end": (
        replace(FINE, tasks=[replace(TASK, state="RUNNING", exit_code=None)]),
        "is still RUNNING",
    ),
    "an end without a code": (
        replace(FINE, tasks=[replace(TASK, exit_code=None)]),
        "has ended without an exit code",
    ),
    "a loss without a reason": (
        replace(FINE, tasks=[replace(TASK, state="LOST", exit_code=None)]),
        "is lost without a reason",
    ),
    "a code that the log does not know": (
        replace(FINE, tasks=[replace(TASK, exit_code=1)]),
        "has exit code 1; its events say 0",
    ),
    "an attempt without tasks": (replace(FINE, tasks=[]), "has no tasks of attempt 0"),
    "two runs at once": (
        replace(FINE, notes=[*NOTES, Note(JOB, 0, "main-0", 0, "twice")]),
        "ran while another run of it did",
    ),
    "one run started twice": (replace(FINE, notes=[*NOTES, *NOTES]), "was started 2 times"),
    "a run that the log does not know": (
        replace(FINE, notes=[*NOTES, Note(JOB, 0, "main-0", 1, "start")]),
        "its events do not know of that run",
    ),
    "a success that did not come to its end": (
        replace(FINE, notes=NOTES[:1]),
        "succeeded and never came to its end",
    ),
    "room that did not come back": (replace(FINE, free={"cpus": 3}), "of 4 cpus only 3 came back"),
    "a process left behind": (replace(FINE, leftovers=["process 17 (sleep)"]), "left behind: process 17"),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_it_finds(forgery: str) -> None:
    evidence, said = FORGED[forgery]
    faults = check(evidence)
    assert any(said in fault for fault in faults), faults


HIT = frozenset({(JOB, 0, "main-0")})
BY_KILL = [
    (KILLED, replace(TASK, exit_code=137)),
    ("task_lost", TaskRow(JOB, 0, "main-0", "LOST", detail="gone")),
]


@pytest.mark.parametrize(
    ("end", "task", "account"), [(*BY_KILL[0], "retry"), (*BY_KILL[1], "transient")], ids=["signal", "loss"]
)
def test_a_kill_by_the_injector_excuses_an_end_by_a_signal_and_a_loss(
    end: Any, task: TaskRow, account: str
) -> None:
    used_up = ("failed", {"class": "transient", "tries": 9})
    lines = log("submitted", "starting", "task_started", "running", end, used_up)
    assert check(retold(lines, JobRow(JOB, "FAILED"), task, hits=HIT)) == []
    retried = ("stopping", {"account": account})
    lines = log(
        *("submitted", "starting", "task_started", "running", end, retried, "requeued"),
        *("stop_asked", "stopped"),
    )
    assert check(retold(lines, JobRow(JOB, "STOPPED", 1), task, hits=HIT)) == []


@pytest.mark.parametrize("told", [{}, {"class": "unknown", "tries": 3}, {"account": "retry"}])
def test_a_loss_that_costs_the_job_something_is_found(told: dict[str, Any]) -> None:
    end, task = BY_KILL[1]
    lines = log("submitted", "starting", "task_started", "running", end, ("failed", told))
    (fault,) = check(retold(lines, JobRow(JOB, "FAILED"), task, hits=HIT))
    assert "main-0 was lost, and is not tried again for that" in fault


def test_an_exit_code_that_is_tried_again_for_free_is_found() -> None:
    end, task = BY_KILL[0]
    lines = log(
        *("submitted", "starting", "task_started", "running", end, ("stopping", {"account": "transient"})),
        *("requeued", "stop_asked", "stopped"),
    )
    (fault,) = check(retold(lines, JobRow(JOB, "STOPPED", 1), task, hits=HIT))
    assert "main-0 has an exit code, and is tried again for free" in fault
