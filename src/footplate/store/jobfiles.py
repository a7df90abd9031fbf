"""The files of jobs in the home's own storage: what they have made, and all that is kept of them."""

from __future__ import annotations

from pathlib import Path

from footplate.domain.job import Job
from footplate.home import layout
from footplate.machine.foldertree import remove_tree, size_of


class JobFiles:
    """Finds, measures and removes what jobs have left."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def folders(self, job: Job) -> dict[str, Path]:
        """Name what can be fetched of a job, and where it lies."""
        return {
            "output": layout.output_folder(self._home, job.id),
            "checkpoints": layout.checkpoint_folder(self._home, job.id),
            "work": layout.attempt_folder(self._home, job.id, job.attempt),
            "code": layout.code_folder(self._home, job.id),
        }

    def size_bytes(self, job_id: str) -> int:
        """Measure all files of a job."""
        return size_of(layout.job_folder(self._home, job_id))

    def remove(self, job_id: str) -> int:
        """Remove all files of a job; the result is how many bytes that gave back."""
        return remove_tree(layout.job_folder(self._home, job_id))
