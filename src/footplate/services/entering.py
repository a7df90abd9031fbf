"""Who may step into a task of a job, and into which; whoever may not is noted."""

from __future__ import annotations

from footplate.domain.errors import Conflict, InvalidInput, NotFound
from footplate.domain.ids import is_job_id
from footplate.domain.job import Job, Task
from footplate.domain.states import JobState
from footplate.services import audit
from footplate.services.access import Caller, may_touch, require_touch
from footplate.services.jobs import find
from footplate.services.platform import Platform


async def enter(
    platform: Platform, caller: Caller, id_or_name: str, task: str | None, way: str
) -> tuple[Job, str, int]:
    """Find a task that the caller may step into: the job's owner and admins may.

    `way` says how: exec, shell, ssh or service.
    """
    job = await find_enterable(platform, caller, id_or_name, way)
    if not (job.is_kept or job.state in (JobState.STARTING, JobState.RUNNING)):
        raise Conflict("job_not_enterable", job=job.id, state=job.state.value)
    role, index = _task_of(job, task)
    return job, role, index


async def find_enterable(
    platform: Platform, caller: Caller, id_or_name: str, way: str, verb: str = "exec"
) -> Job:
    """Find a job whose tasks the caller may step into, whatever its state; note a try that is refused."""
    try:
        job = await find(platform, caller, id_or_name)
    except NotFound:
        hidden = await platform.store.job(id_or_name) if is_job_id(id_or_name) else None
        if hidden is not None:
            await note_refusal(platform, caller, hidden, way)
        raise
    if not may_touch(caller, job):
        await note_refusal(platform, caller, job, way)
        require_touch(caller, job, verb)
    return job


async def note_refusal(platform: Platform, caller: Caller, job: Job, way: str) -> None:
    detail = {"name": job.spec.name, "owner": job.owner, "way": way}
    await audit.note(platform, caller, "job.entry_refused", job.id, **detail)


def _task_of(job: Job, name: str | None) -> tuple[str, int]:
    """Find a task by name; without one, the first that can be entered."""
    wanted = name.replace("/", "-") if name else None
    named = [task for task in job.tasks if wanted in (None, task.name)]
    if not named:
        some = ", ".join(task.name for task in job.tasks[:10])
        raise InvalidInput("not_task_of_job", "task", some=some, given=str(name)[:80])
    for task in named:
        if _can_be_entered(job, task):
            return task.role, task.index
    if wanted:
        raise Conflict("task_not_enterable", task=wanted, job=job.id)
    raise Conflict("no_task_enterable", job=job.id)


def _can_be_entered(job: Job, task: Task) -> bool:
    if job.is_kept:
        return (task.role, task.index) in job.kept
    # Nobody would end a command in an ended task when its job ends by itself.
    return not task.state.is_over
