"""Where the results of a job are kept, and how far that is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from footplate.domain.job import Job
from footplate.domain.messages import Message

# Of everybody's own, where nothing else is said.
DEFAULT_STORAGE = "home"
DEFAULT_FOLDER = "outputs"
# What lists the results, beside them.
MANIFEST = "footplate-manifest.json"


class ResultState(StrEnum):
    WAITING = "waiting"
    SAVED = "saved"
    # A try has failed, and the next will come.
    DELAYED = "delayed"


@dataclass(frozen=True, slots=True)
class SavedResults:
    """What was last saved of a job, and why no more; once it is complete, nothing more will come."""

    storage: str
    path: str
    state: ResultState = ResultState.WAITING
    saved_at: float | None = None
    is_complete: bool = False
    n_files: int = 0
    size_bytes: int = 0
    n_left_out: int = 0
    n_tries: int = 0
    error: Message | None = None


def place_of(job: Job) -> tuple[str, str]:
    """Name the storage and the folder for the results of a job that asks for that; no two jobs share one.

    A folder that is named after the job already, as other systems name it, is its own.
    """
    asked = job.spec.results
    assert asked is not None
    path = asked.path.strip("/")
    if path.endswith(f"-{job.id}"):
        return asked.storage or DEFAULT_STORAGE, path
    return asked.storage or DEFAULT_STORAGE, f"{path or DEFAULT_FOLDER}/{job.id}"
