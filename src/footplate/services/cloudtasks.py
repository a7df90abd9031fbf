"""Training tasks of other clouds' clients as jobs: make one, find it, list one's own, start it again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from footplate.dialects.tione.tasks import AGAIN, first_of
from footplate.domain.cluster import Queue
from footplate.domain.errors import Conflict, InvalidInput, NotFound
from footplate.domain.ids import is_job_id
from footplate.domain.job import Job
from footplate.domain.listing import JobLine
from footplate.domain.resources import Resources, total
from footplate.domain.results import DEFAULT_FOLDER
from footplate.domain.spec import DEFAULT_QUEUE, JobSpec
from footplate.domain.states import JobState
from footplate.services import jobs, storagefiles, storedcode
from footplate.services.access import Caller
from footplate.services.buckets import locate
from footplate.services.platform import Platform
from footplate.services.queues import nodes_of
from footplate.store import result_queries
from footplate.store.job_queries import Filter

MOST_LISTED = 10_000
NAME_TRIES = 5
PAGE = 1000


def room_of(platform: Platform, name: str) -> Resources | None:
    """What the machines of a queue have in all; None where its engine places by itself, and only it knows."""
    queue = platform.cluster.queues.get(name or DEFAULT_QUEUE, Queue(name))
    if platform.engines.places(queue):
        return None
    return total(node.capacity for node in nodes_of(platform, queue))


async def require_there(platform: Platform, caller: Caller, bucket: str, path: str) -> None:
    """Raise `NotFound` now for what the job would only find missing when it starts."""
    found = locate(platform, caller, bucket)
    await storagefiles.stat(platform, caller, found.storage, found.path(path))


async def earlier_output(
    platform: Platform, caller: Caller, storage: str, folder: str
) -> tuple[str, str] | None:
    """What a job that is to write to a folder can go on from: storage and path, None where there is nothing.

    That is what the caller's newest job has left below it, else what somebody has put there.
    """
    path = folder.strip("/")
    latest = await platform.store.read(
        lambda connection: result_queries.latest_in(connection, caller.name, storage, path or DEFAULT_FOLDER)
    )
    try:
        if latest is not None:
            await storagefiles.stat(platform, caller, storage, latest)
            return storage, latest
        found = await storagefiles.page(platform, caller, storage, path, "", PAGE)
    except (NotFound, InvalidInput):
        return None
    return (storage, path) if any(not one.is_folder for one in found.entries) else None


async def take_code(platform: Platform, caller: Caller, bucket: str, path: str) -> str:
    """Keep what lies at a path of a bucket as the code of a job."""
    found = locate(platform, caller, bucket)
    return await storedcode.take(platform, caller, found.storage, found.path(path))


async def submit(platform: Platform, caller: Caller, spec: JobSpec, new_id: str) -> Job:
    submission = await jobs.submit_spec(platform, caller, spec, new_id=new_id)
    return submission.job


async def submit_renamed(platform: Platform, caller: Caller, spec: JobSpec) -> Job:
    """Submit a task of a cloud where names repeat: under the next free name, if its own is in use."""
    named = spec
    for _ in range(NAME_TRIES):
        try:
            return await submit(platform, caller, named, "")
        except Conflict as error:
            if error.said.code != "job_name_taken":
                raise
            free = partial(jobs.free_name, owner=caller.name, name=named.name)
            named = replace(named, name=await platform.store.read(free))
    return await submit(platform, caller, named, "")


async def find(platform: Platform, caller: Caller, job_id: str) -> Job:
    """The job that stands for a task by now: the newest that was started again from it, or itself."""
    again = await _again(platform, caller, job_id) if is_job_id(job_id) else None
    return await find_first(platform, caller, again or job_id)


async def _again(platform: Platform, caller: Caller, job_id: str) -> str | None:
    wanted = Filter(caller.name, owners=[caller.name], tag=f"{AGAIN}{job_id}")
    lines, _ = await jobs.page(platform, caller, wanted, "-submitted_at", None, 1)
    return lines[0].id if lines else None


async def all_of(platform: Platform, caller: Caller, job_id: str) -> list[Job]:
    """The job that a task began as, and those that were started again from it, as far as they are there."""
    wanted = Filter(caller.name, owners=[caller.name], tag=f"{AGAIN}{job_id}")
    lines, _ = await jobs.page(platform, caller, wanted, "-submitted_at", None, PAGE)
    found = [await jobs.inspect(platform, caller, line.id) for line in lines]
    first = await find_first(platform, caller, job_id)
    return found if first.deleted_at is not None and found else [*found, first]


async def find_first(platform: Platform, caller: Caller, job_id: str) -> Job:
    if not is_job_id(job_id):
        raise NotFound("job_not_visible", job=job_id[:64])
    return await jobs.inspect(platform, caller, job_id)


async def start_again(platform: Platform, caller: Caller, job_id: str) -> Job:
    """Run a task that is over once more: as a new job, which its id then stands for."""
    job = await find(platform, caller, job_id)
    if not job.state.is_final:
        raise InvalidInput("task_not_over", "Id", job=job.id, state=job.state.value)
    first = first_of(job.id, job.spec.tags)
    tags = [*(tag for tag in job.spec.tags if not tag.startswith(AGAIN)), f"{AGAIN}{first}"]
    submission = await jobs.clone(platform, caller, job.id, {"tags": tags})
    return submission.job


@dataclass(frozen=True, slots=True)
class Wished:
    """Which of one's own tasks to list."""

    states: Sequence[JobState] = ()
    name: str = ""
    ids: Sequence[str] = ()
    queues: Sequence[str] = ()
    oldest_first: bool = False

    def has(self, first: str, line: JobLine) -> bool:
        """Whether a task is meant, which began as the job `first`."""
        is_named = not self.ids or first in self.ids or line.id in self.ids
        return is_named and (not self.states or line.state in self.states)


async def own(
    platform: Platform, caller: Caller, wished: Wished, offset: int, limit: int
) -> tuple[list[Job], int]:
    """Some of the caller's own tasks, and how many there are; the newest job stands for one started again."""
    wanted = Filter(caller.name, owners=[caller.name], queues=wished.queues, search=wished.name)
    newest: dict[str, JobLine] = {}
    after, n_read = None, 0
    while n_read < MOST_LISTED:
        found, after = await jobs.page(platform, caller, wanted, "-submitted_at", after, PAGE)
        n_read += len(found)
        for line in found:
            newest.setdefault(first_of(line.id, line.tags), line)
        if after is None:
            break
    lines = [line for first, line in newest.items() if wished.has(first, line)]
    if wished.oldest_first:
        lines.reverse()
    shown = lines[offset : offset + limit]
    loaded = await asyncio.gather(*(platform.store.job(line.id) for line in shown))
    return [job for job in loaded if job is not None], len(lines)
