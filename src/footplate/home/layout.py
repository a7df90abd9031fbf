"""Paths of a job's files below the home folder; names only, no I/O.

Those that a launch asks for time and again are remembered: joining paths takes longer than looking them up.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

MOST_REMEMBERED = 4096
# What everybody keeps here: files of jobs, of people and of storages, models, and what was measured; and room
# for a full disk. Whatever is there is closed to other accounts.
FOLDERS = (
    "jobs",
    "blobs",
    "people",
    "environments",
    "python",
    "storages",
    "uploads",
    "staged",
    "models",
    "nodes",
    "viewers",
    "reserve",
)
FILES = (
    "secret",
    "identity.json",
    "experiments",
    "client.toml",
    "lock",
    "ssh_host_key",
    "control-groups.json",
    "guarded-images.json",
)


@lru_cache(MOST_REMEMBERED)
def job_folder(home: Path, job_id: str) -> Path:
    # Two more levels keep every folder small however many jobs there are.
    return home / "jobs" / job_id[:5] / job_id


def person_folder(home: Path, name: str, number: int) -> Path:
    """What is HOME for a person's tasks; a later person of the same name has another."""
    return home / "people" / f"{name}-{number}"


def environments_folder(home: Path, name: str, number: int) -> Path:
    """Where the environments lie that were built for a person's jobs."""
    return home / "environments" / f"{name}-{number}"


def environment_link(home: Path, job_id: str) -> Path:
    """What leads to the environment of a job; known before the environment is."""
    return job_folder(home, job_id) / "environment"


@lru_cache(MOST_REMEMBERED)
def code_folder(home: Path, job_id: str) -> Path:
    return job_folder(home, job_id) / "code"


@lru_cache(MOST_REMEMBERED)
def volume_folder(home: Path, job_id: str, inner: str) -> Path:
    """Where a volume of the job's own storage lies; without a name, all of them."""
    return job_folder(home, job_id) / inner


def attempt_name(attempt: int) -> str:
    return f"attempt-{attempt}"


@lru_cache(MOST_REMEMBERED)
def attempt_folder(home: Path, job_id: str, attempt: int) -> Path:
    return job_folder(home, job_id) / attempt_name(attempt)


@lru_cache(MOST_REMEMBERED)
def task_folder(attempt: Path, role: str, index: int) -> Path:
    return attempt / f"{role}-{index}"


@lru_cache(MOST_REMEMBERED)
def folder_of_task(home: Path, attempt_id: str, task: str) -> Path:
    """Find the folder of a task by names alone, such as `2me19e9zbny0.0` and `worker-1`."""
    job_id, _, attempt = attempt_id.rpartition(".")
    return attempt_folder(home, job_id, int(attempt)) / task


def run_folder(task: Path, run: int) -> Path:
    """Where a run of a task records its claim and its end; log and work folder are the same for all runs."""
    return task / f"run-{run}" if run else task


@lru_cache(MOST_REMEMBERED)
def notice_file(task: Path) -> Path:
    return task / "notice"


def usage_file(task: Path) -> Path:
    return task / "usage"


@lru_cache(MOST_REMEMBERED)
def node_folder(home: Path, node: str, card: int | None = None) -> Path:
    """Where the usage of a node is kept, or of one of its cards; any name of a node is a name of a folder."""
    folder = home / "nodes" / f"node-{quote(node, safe='')}"
    return folder if card is None else folder / f"card-{card}"


def metrics_folder(home: Path, job_id: str) -> Path:
    """Where the points of a job's metrics are kept; no task writes there."""
    return job_folder(home, job_id) / "metrics"


@lru_cache(MOST_REMEMBERED)
def log_file(task: Path) -> Path:
    return task / "log"


def log_index_file(task: Path) -> Path:
    return task / "log.index"


def log_holes_file(task: Path) -> Path:
    return task / "log.holes"


@lru_cache(MOST_REMEMBERED)
def work_folder(task: Path) -> Path:
    return task / "work"


def blobs_folder(home: Path) -> Path:
    """Where uploaded code lies."""
    return home / "blobs"


def models_folder(home: Path) -> Path:
    """Where the files of models lie."""
    return home / "models"


def experiments_file(home: Path) -> Path:
    """Where the names of experiments are kept, and which jobs have runs in them."""
    return home / "experiments"


def reserve_folder(home: Path) -> Path:
    """What is given up when the disk is full."""
    return home / "reserve"


def viewers_folder(home: Path) -> Path:
    """Where it is noted which viewers run."""
    return home / "viewers"


def storage_folder(home: Path, name: str) -> Path:
    """Where the files of a storage lie that the server keeps itself."""
    return home / "storages" / name


def results_record(home: Path, job_id: str) -> Path:
    """What was saved of a job's results, with how its files looked then."""
    return job_folder(home, job_id) / "results.json"


def staged_folder(home: Path) -> Path:
    """Where copies of data lie that tasks read, of storages that cannot be mounted."""
    return home / "staged"


def parts_folder(home: Path, name: str) -> Path:
    """Where uploads to a storage lie until they are whole, if the storage cannot hold them itself."""
    return home / "uploads" / name
