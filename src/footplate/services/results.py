"""Where the results of a job are kept."""

from __future__ import annotations

from footplate.domain.job import Job
from footplate.domain.results import SavedResults, place_of
from footplate.domain.storage import Storage
from footplate.services.filing import Filing
from footplate.services.platform import Platform
from footplate.services.storageroom import StorageRoom
from footplate.store import result_queries


async def of(platform: Platform, job: Job) -> SavedResults:
    """How far the results of a job are saved that asks for that."""
    found = await platform.store.read(lambda connection: result_queries.find(connection, job.id))
    return found or SavedResults(*place_of(job))


async def require_room(filing: Filing, room: StorageRoom, job: Job, storage: Storage, n_bytes: int) -> None:
    """Raise `DiskFull` when a storage has no room for so many bytes more of the job's owner."""
    opened = await filing.open(storage, job.owner)
    # Of what goes elsewhere a few files lie here at a time; what is final gets a second name in `home`.
    is_copied_here = storage.is_own and not (storage.per_user and job.state.is_final)
    await room.require(opened, n_bytes, job.owner, n_bytes if is_copied_here else 0)
