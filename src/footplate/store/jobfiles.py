"""The files of jobs, by volume: what they have made, and all that is kept of them."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

from footplate.domain.job import Job
from footplate.domain.retention import Sizes
from footplate.domain.storage import IN_OWN_FOLDERS, OWN, Storage, Volume
from footplate.home.layout import attempt_name, results_record, work_folder
from footplate.home.volumes import folder_of
from footplate.machine.foldertree import remove_tree, size_of
from footplate.machine.taskfiles import open_folder
from footplate.storages.saving import Saved
from footplate.store import savedfiles

# All that the home keeps of a job: logs, code, work folders, and its results where they are kept there.
EVERYTHING = Volume(OWN, "")
RESULTS = (IN_OWN_FOLDERS.output, IN_OWN_FOLDERS.checkpoints)
LOG_FILES = ("log", "log.index", "log.holes", "usage")


class JobFiles:
    """Finds, measures and removes what jobs have left; each volume through its storage."""

    def __init__(self, home: Path, storages: Mapping[str, Storage] = MappingProxyType({})) -> None:
        self._home = home
        self._storages = storages
        self._lock = threading.Lock()
        self._holds: Counter[str] = Counter()

    def folders(self, job: Job) -> dict[str, Path]:
        """Name what can be fetched of a job, and where it lies."""
        kept = {
            "output": IN_OWN_FOLDERS.output,
            "checkpoints": IN_OWN_FOLDERS.checkpoints,
            "work": Volume(OWN, attempt_name(job.attempt)),
            "code": Volume(OWN, "code"),
        }
        return {name: self._folder(job.id, volume) for name, volume in kept.items()}

    def saved(self, job_id: str) -> Mapping[str, Saved]:
        """What was saved of a job's results, by path."""
        return savedfiles.read(results_record(self._home, job_id))

    def note_saved(self, job_id: str, saved: Iterable[Saved]) -> None:
        savedfiles.write(results_record(self._home, job_id), saved)

    def size_bytes(self, job_id: str) -> int:
        """Measure what the home keeps of a job."""
        return size_of(self._folder(job_id, EVERYTHING))

    def remove(self, job_id: str) -> int:
        """Remove what the home keeps of a job; the result is how many bytes that gave back."""
        return remove_tree(self._folder(job_id, EVERYTHING))

    def sizes(self, job_id: str) -> Sizes:
        """Measure what the home keeps of a job, part by part."""
        places, logs = self._places(job_id), 0
        for task in self._tasks(job_id):
            for name in LOG_FILES:
                with suppress(OSError):
                    logs += os.lstat(task / name).st_blocks * 512
        return Sizes(logs, *(sum(map(size_of, places[part])) for part in ("outputs", "work", "code")))

    def remove_part(self, job_id: str, part: str) -> int:
        """Remove one part of what is kept of a job that is over; return how many bytes that gave back.

        What is interrupted can be begun again.
        """
        if part != "logs":
            return sum(map(remove_tree, self._places(job_id)[part]))
        return sum(_unlink_logs(task) for task in self._tasks(job_id))

    def _places(self, job_id: str) -> dict[str, list[Path]]:
        whole = self._folder(job_id, EVERYTHING)
        return {
            "outputs": [
                self._folder(job_id, one) for one in (IN_OWN_FOLDERS.output, IN_OWN_FOLDERS.checkpoints)
            ],
            "work": [work_folder(task) for task in self._tasks(job_id)],
            "code": [whole / "code"],
        }

    def _tasks(self, job_id: str) -> list[Path]:
        """The folders of all tasks of all attempts; links are none."""
        whole = self._folder(job_id, EVERYTHING)
        attempts = [one for one in _folders_in(whole) if one.name.startswith("attempt-")]
        return [task for attempt in attempts for task in _folders_in(attempt)]

    @contextmanager
    def held(self, job_id: str) -> Iterator[None]:
        """Keep the parts of a job from being removed while somebody reads them."""
        with self._lock:
            self._holds[job_id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._holds[job_id] -= 1
                if not self._holds[job_id]:
                    del self._holds[job_id]

    def is_held(self, job_id: str) -> bool:
        return self._holds[job_id] > 0

    def _folder(self, job_id: str, volume: Volume) -> Path:
        return folder_of(self._home, self._storages, job_id, volume)


def _folders_in(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(one.path) for one in entries if one.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _unlink_logs(task: Path) -> int:
    freed = 0
    try:
        # By a descriptor that no link leads to.
        fd = open_folder(str(task))
    except OSError:
        return 0
    try:
        for name in LOG_FILES:
            with suppress(FileNotFoundError):
                freed += os.stat(name, dir_fd=fd, follow_symlinks=False).st_blocks * 512
                os.unlink(name, dir_fd=fd)
    finally:
        os.close(fd)
    return freed
