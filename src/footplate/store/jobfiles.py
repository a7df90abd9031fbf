"""The files of jobs, by volume: what they have made, and all that is kept of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from footplate.domain.job import Job
from footplate.domain.storage import IN_OWN_FOLDERS, OWN, Storage, Volume
from footplate.home.layout import attempt_name
from footplate.home.volumes import folder_of
from footplate.machine.foldertree import remove_tree, size_of

# All that the home keeps of a job: logs, code, work folders, and its results where they are kept there.
EVERYTHING = Volume(OWN, "")


class JobFiles:
    """Finds, measures and removes what jobs have left; each volume through its storage."""

    def __init__(self, home: Path, storages: Mapping[str, Storage] = MappingProxyType({})) -> None:
        self._home = home
        self._storages = storages

    def folders(self, job: Job) -> dict[str, Path]:
        """Name what can be fetched of a job, and where it lies."""
        kept = {
            "output": IN_OWN_FOLDERS.output,
            "checkpoints": IN_OWN_FOLDERS.checkpoints,
            "work": Volume(OWN, attempt_name(job.attempt)),
            "code": Volume(OWN, "code"),
        }
        return {name: self._folder(job.id, volume) for name, volume in kept.items()}

    def size_bytes(self, job_id: str) -> int:
        """Measure what the home keeps of a job."""
        return size_of(self._folder(job_id, EVERYTHING))

    def remove(self, job_id: str) -> int:
        """Remove what the home keeps of a job; the result is how many bytes that gave back."""
        return remove_tree(self._folder(job_id, EVERYTHING))

    def _folder(self, job_id: str, volume: Volume) -> Path:
        return folder_of(self._home, self._storages, job_id, volume)
