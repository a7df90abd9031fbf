"""Looks at one task from outside: what its files and its process say of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from footplate.domain.states import TaskState
from footplate.engines.local.processes import boot_id, kill_marked, open_process
from footplate.engines.local.records import STOPPED_BY_TERM, Claim, Exit, Identity, read_claim, read_exit

LEFTOVERS_S = 10


@dataclass(frozen=True, slots=True)
class Sight:
    """How a task stands; a RUNNING one comes with its process, whose descriptor the receiver owns."""

    state: TaskState
    exit_code: int | None = None
    started_at: float | None = None
    finished_at: float | None = None
    detail: str = ""
    identity: Identity | None = None
    pidfd: int = -1


def glance(folder: Path) -> Sight | None:
    """Tell how a task ended that has recorded its end; None when a closer look is needed."""
    end = read_exit(folder)
    claim = read_claim(folder) if end is not None else None
    return None if end is None or claim is None or claim.identity is None else _exited(claim, end)


def look(folder: Path, marks: tuple[str, ...]) -> Sight:
    """Tell how the task in this folder stands; what a lost one left running is ended first."""
    claim, end = read_claim(folder), read_exit(folder)
    if claim is None:
        return Sight(TaskState.WAITING)
    if claim.identity is None:
        return _never_started(claim)
    if end is not None:
        return _exited(claim, end)
    pidfd = open_process(claim.identity)
    if pidfd is not None:
        return Sight(TaskState.RUNNING, started_at=claim.at, identity=claim.identity, pidfd=pidfd)
    # The exit code is written before the process ends, so this second look decides.
    end = read_exit(folder)
    return _exited(claim, end) if end is not None else _lost(claim, claim.identity, marks)


def _never_started(claim: Claim) -> Sight:
    return Sight(
        TaskState.EXITED, STOPPED_BY_TERM, finished_at=claim.at, detail="stopped before it had started"
    )


def _exited(claim: Claim, end: Exit) -> Sight:
    return Sight(TaskState.EXITED, end.code, claim.at, end.at)


def _lost(claim: Claim, identity: Identity, marks: tuple[str, ...]) -> Sight:
    if identity.boot_id != boot_id():
        detail = "the machine was restarted while the task ran"
    else:
        kill_marked(marks, LEFTOVERS_S)
        detail = "the task's process was killed from outside before it could record an exit code"
    return Sight(TaskState.LOST, started_at=claim.at, detail=detail)
