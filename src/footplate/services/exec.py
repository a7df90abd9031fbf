"""Running commands in a task on behalf of a caller (`exec`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from footplate.domain.errors import Conflict, InvalidInput
from footplate.domain.job import Job, Task
from footplate.domain.resources import MIB
from footplate.domain.states import JobState
from footplate.engines.base import Ran
from footplate.services.access import Caller, require_touch
from footplate.services.jobs import find
from footplate.services.platform import Platform

MOST_WORDS = 1000
MOST_BYTES = 64 * 1024
MOST_INPUT_BYTES = 16 * MIB


async def exec_in_task(
    platform: Platform,
    caller: Caller,
    id_or_name: str,
    task: str | None,
    command: Sequence[str],
    timeout_s: float,
    stdin: bytes = b"",
) -> Ran:
    """Run a command in the environment of a task; its owner and admins may."""
    job = await find(platform, caller, id_or_name)
    require_touch(caller, job, "exec")
    if not (job.is_kept or job.state in (JobState.STARTING, JobState.RUNNING)):
        raise Conflict("job_not_enterable", job=job.id, state=job.state.value)
    if len(command) > MOST_WORDS or sum(len(word.encode()) for word in command) > MOST_BYTES:
        raise InvalidInput("command_too_long", "command", most=MOST_WORDS, most_bytes=MOST_BYTES)
    role, index = _task_of(job, task)
    ran = await platform.exec_in_task(job, role, index, command, timeout_s, stdin)
    # Asked only now: the command may have been given values that no task had before.
    mask = await platform.mask_of(job)
    return replace(ran, output=mask.cover(ran.output, cut_after=ran.is_cut or ran.timed_out))


def _task_of(job: Job, name: str | None) -> tuple[str, int]:
    """Find a task by name; without one, the first that can be entered."""
    named = [task for task in job.tasks if name in (None, task.name)]
    if not named:
        some = ", ".join(task.name for task in job.tasks[:10])
        raise InvalidInput("not_task_of_job", "task", some=some, given=str(name)[:80])
    for task in named:
        if _can_be_entered(job, task):
            return task.role, task.index
    if name:
        raise Conflict("task_not_enterable", task=name, job=job.id)
    raise Conflict("no_task_enterable", job=job.id)


def _can_be_entered(job: Job, task: Task) -> bool:
    if job.is_kept:
        return (task.role, task.index) in job.kept
    # Nobody would end a command in an ended task when its job ends by itself.
    return not task.state.is_over
