"""Observes one task: reads its records and its process, and returns its state."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from footplate.domain.messages import Message, say
from footplate.domain.states import TaskState
from footplate.engines.base import Cause
from footplate.engines.local.observe.records import (
    STOPPED_BY_KILL,
    STOPPED_BY_TERM,
    Claim,
    Exit,
    Identity,
    add_to_exit,
    read_both,
    read_counts,
    read_exit,
    write_record,
)
from footplate.engines.local.process.processes import boot_id, is_alive, is_foreign, kill_marked, open_process

LEFTOVERS_S = 10
# A task that is killed for its own limit has come this close to it.
NEARLY = 0.9

EndGroup = Callable[[Identity, float], bool]
# Gives the groups of an ended task back; returns what they counted, as `FILE TEXT`, where that is wanted.
Conclude = Callable[[Identity, bool], str]


@dataclass(frozen=True, slots=True)
class Observed:
    """How a task stands; a RUNNING one comes with its process, whose descriptor the receiver owns."""

    state: TaskState
    exit_code: int | None = None
    started_at: float | None = None
    finished_at: float | None = None
    detail: Message | None = None
    cause: Cause = ""
    limit_bytes: int | None = None
    peak_bytes: int | None = None
    identity: Identity | None = None
    pidfd: int = -1


def no_counts(_identity: Identity, _is_wanted: bool) -> str:
    return ""


def read_end(folder: Path, is_over: bool = False, conclude: Conclude = no_counts) -> Observed | None:
    """Read how a task ended from its record; None if the process must be checked too.

    A process that is still there has not ended, whatever stands in its place for records, unless it is known
    that the task `is_over`: a container may outlive its task, and what watches over one says so last.
    """
    claim, end = read_both(folder)
    if end is None or claim is None or claim.identity is None:
        return None
    if not is_over and _is_there(claim.identity):
        return None
    return _exited(claim, _with_counts(folder, claim.identity, end, conclude))


def _with_counts(folder: Path, identity: Identity, end: Exit, conclude: Conclude) -> Exit:
    """Add to an end what the task's groups say of it; what explains it is kept, since they go."""
    # Where whoever watched over the task has written its limit, it has written all that there is.
    text = conclude(identity, end.limit_bytes is None)
    n_oom_kills, limit_bytes, peak_bytes = read_counts(text)
    if end.n_oom_kills or not n_oom_kills:
        return end
    add_to_exit(folder, text)
    return replace(end, n_oom_kills=n_oom_kills, limit_bytes=limit_bytes, peak_bytes=peak_bytes)


def observe_task(
    folder: Path,
    marks: tuple[str, ...],
    end_group: EndGroup = lambda *_: True,
    conclude: Conclude = no_counts,
) -> Observed:
    """Observe the task of this folder; processes that a lost task left running are killed first."""
    claim, end = read_both(folder)
    if claim is None:
        return Observed(TaskState.WAITING)
    if claim.identity is None:
        return _never_started(claim)
    pidfd = open_process(claim.identity)
    if end is not None and pidfd is None:
        return _exited(claim, _with_counts(folder, claim.identity, end, conclude))
    # A task may have put another's name into its claim.
    is_own = pidfd is None or not is_foreign(claim.identity, marks)
    if pidfd is not None and is_own:
        return Observed(TaskState.RUNNING, started_at=claim.at, identity=claim.identity, pidfd=pidfd)
    if pidfd is not None:
        os.close(pidfd)
    # The exit code is written before the process ends, so this second reading decides.
    end = read_exit(folder)
    if end is not None:
        return _exited(claim, _with_counts(folder, claim.identity, end, conclude))
    if is_own and claim.identity.boot_id == boot_id():
        if counts := _out_of_memory(conclude(claim.identity, True)):
            # The kernel has taken what watched over the task, and all the rest with it.
            write_record(folder, f"{STOPPED_BY_KILL}\n{counts}")
        end_group(claim.identity, LEFTOVERS_S)
        if counts and (end := read_exit(folder)):
            return _exited(claim, end)
    return _lost(claim, claim.identity, marks)


def _out_of_memory(counts: str) -> str:
    return counts if read_counts(counts)[0] else ""


def _is_there(identity: Identity) -> bool:
    return identity.boot_id == boot_id() and is_alive(identity.pid, identity.start_ticks)


def _never_started(claim: Claim) -> Observed:
    return Observed(
        TaskState.EXITED, STOPPED_BY_TERM, finished_at=claim.at, detail=say("stopped_before_start")
    )


def _exited(claim: Claim, end: Exit) -> Observed:
    observed = Observed(TaskState.EXITED, end.code, claim.at, end.at)
    if not end.n_oom_kills:
        return observed
    observed = replace(
        observed, detail=_tell_oom(end), limit_bytes=end.limit_bytes, peak_bytes=end.peak_bytes
    )
    if end.code == 0:
        return replace(observed, detail=say("survived_kill", why=observed.detail))
    return replace(observed, cause="oom")


def _tell_oom(end: Exit) -> Message:
    if end.limit_bytes is None or end.peak_bytes is None:
        return say("out_of_memory")
    is_of_machine = end.peak_bytes < end.limit_bytes * NEARLY
    code = "machine_out_of_memory" if is_of_machine else "limit_out_of_memory"
    return say(code, limit_bytes=end.limit_bytes, peak_bytes=end.peak_bytes)


def _lost(claim: Claim, identity: Identity, marks: tuple[str, ...]) -> Observed:
    if identity.boot_id != boot_id():
        detail = say("machine_restarted")
    else:
        kill_marked(marks, LEFTOVERS_S)
        detail = say("killed_from_outside")
    return Observed(TaskState.LOST, started_at=claim.at, detail=detail)
