"""The exit codes of OpenPAI: which one a task or a job ended with, and what is said of each."""

from __future__ import annotations

from typing import Any

from footplate.domain.exitcode import exit_code_of
from footplate.domain.failures import MOST_TRANSIENT_RETRIES
from footplate.domain.job import Job, Task
from footplate.domain.states import JobState, ReasonCode, TaskState

STOPPED, COLLATERAL, LOST, OUT_OF_MEMORY, NOT_CREATED, DEADLINE, UNKNOWN = (
    -210,
    -220,
    -120,
    -1200,
    -1100,
    -1004,
    255,
)
_PLATFORM, _USER, _NOT_KNOWN, _STOP = "PLATFORM_FAILURE", "USER_FAILURE", "UNKNOWN_FAILURE", "USER_STOP"
_ALWAYS, _NEVER, _TO_MAX = "ALWAYS_RETRY", "NEVER_RETRY", "RETRY_TO_MAX"
_BEHAVIOUR = {_ALWAYS: "TRANSIENT", _NEVER: "PERMANENT", _TO_MAX: "UNKNOWN"}
# Phrase, type, reaction.
_SPECS = {
    0: ("Succeeded", "USER_SUCCESS", _NEVER),
    STOPPED: ("StopFrameworkRequested", _STOP, _NEVER),
    COLLATERAL: ("FrameworkAttemptCompletion", _STOP, _NEVER),
    LOST: ("PodNodeLost", _PLATFORM, _ALWAYS),
    DEADLINE: ("PodDeadlineExceeded", _STOP, _NEVER),
    NOT_CREATED: ("PodCreationFailed", _USER, _NEVER),
    OUT_OF_MEMORY: ("ContainerOOMKilled", _USER, _NEVER),
    130: ("ContainerSigIntReceived", _PLATFORM, _ALWAYS),
    131: ("ContainerSigQuitReceived", _PLATFORM, _ALWAYS),
    132: ("ContainerSigIllReceived", _USER, _NEVER),
    134: ("ContainerSigAbrtReceived", _NOT_KNOWN, _TO_MAX),
    135: ("ContainerSigBusReceived", _USER, _NEVER),
    136: ("ContainerSigFpeReceived", _USER, _NEVER),
    137: ("ContainerSigKillReceived", _PLATFORM, _ALWAYS),
    139: ("ContainerSigSegvReceived", _NOT_KNOWN, _TO_MAX),
    141: ("ContainerSigPipeReceived", _USER, _NEVER),
    143: ("ContainerSigTermReceived", _PLATFORM, _ALWAYS),
    254: ("ContainerImageNotExists", _USER, _NEVER),
    UNKNOWN: ("RuntimeUnknown", _NOT_KNOWN, _TO_MAX),
}
_OTHER_POSITIVE = ("ContainerUndefinedExitCode", _NOT_KNOWN, _TO_MAX)
_OTHER_NEGATIVE = ("UndefinedExitCode", _NOT_KNOWN, _TO_MAX)
_BY_REASON = {
    ReasonCode.OUT_OF_MEMORY: OUT_OF_MEMORY,
    ReasonCode.TASK_LOST: LOST,
    ReasonCode.LAUNCH_FAILED: NOT_CREATED,
    ReasonCode.TIME_LIMIT: DEADLINE,
    ReasonCode.DEADLINE: DEADLINE,
}


def _codes(reaction: str) -> list[int]:
    return sorted(code for code, (_, _, one) in _SPECS.items() if code > 0 and one == reaction)


# Which failures are never tried again, and which are whatever retries a job has: the rest of them count.
RULES: tuple[dict[str, Any], ...] = (
    {"action": "stop", "causes": ["oom"]},
    {"action": "stop", "exit_codes": _codes(_NEVER)},
    {"action": "retry", "exit_codes": _codes(_ALWAYS), "times": MOST_TRANSIENT_RETRIES},
)


def of_task(task: Task) -> int | None:
    """The code that a task ended with, as OpenPAI counts; None while it runs."""
    if task.state is TaskState.LOST:
        return LOST
    if task.state is not TaskState.EXITED:
        return None
    if task.cause == "stopped":
        return COLLATERAL
    return OUT_OF_MEMORY if task.cause == "oom" else task.exit_code


def of_job(job: Job) -> int | None:
    """The code that a job ended with; None while that is open."""
    if not job.state.is_final:
        return None
    if job.state is JobState.STOPPED:
        return STOPPED
    if job.reason.code in _BY_REASON:
        return _BY_REASON[job.reason.code]
    code = exit_code_of(job.state, job.reason, (task.exit_code for task in job.tasks))
    return UNKNOWN if code is None else code


def spec_of(code: int | None, why: str = "") -> dict[str, Any] | None:
    """What is said of a code."""
    if code is None:
        return None
    phrase, kind, reaction = _SPECS.get(code, _OTHER_POSITIVE if code > 0 else _OTHER_NEGATIVE)
    return {
        "code": code,
        "phrase": phrase,
        "issuer": "USER_CONTAINER" if code > 0 else "PAI_RUNTIME",
        "causer": "USER_CONTAINER" if kind == _USER else "UNKNOWN",
        "type": kind,
        "stage": "RUNNING",
        "behavior": "SUCCEEDED" if code == 0 else _BEHAVIOUR[reaction],
        "reaction": reaction,
        "reason": why or phrase,
        "repro": [],
        "solution": [],
    }
