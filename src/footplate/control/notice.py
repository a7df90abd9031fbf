"""The notice that a task finds when it is about to be stopped: why, and how long it has."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from pathlib import Path

from footplate.domain.job import Job
from footplate.domain.kinds import show_instant
from footplate.domain.layout import attempt_folder, notice_file, task_folder
from footplate.taskfiles import open_folder


def give_notice(home: Path, job: Job, at: float, grace_s: float) -> None:
    """Write the notice for every task that runs, before the signal comes; it is seen whole or not at all."""
    reason = job.reason
    text = json.dumps(
        {
            "reason": reason.code.value,
            "message": reason.message,
            "at": show_instant(at),
            "grace_s": grace_s,
            "will_run_again": job.next is not None and not job.next.state.is_final,
        }
    )
    attempt = attempt_folder(home, job.id, job.attempt)
    for task in job.tasks:
        if task.started_at is not None and not task.state.is_over:
            _write(notice_file(task_folder(attempt, task.role, task.index)), text)


def _write(path: Path, text: str) -> None:
    # A name that nobody can have put something else under.
    draft = f"{path.name}.{uuid.uuid4().hex}"
    # A task may have spoilt its own folder; its stop goes on all the same.
    with contextlib.suppress(OSError):
        folder_fd = open_folder(str(path.parent))
        try:
            draft_fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=folder_fd)
            with os.fdopen(draft_fd, "w") as file:
                file.write(text + "\n")
            os.replace(draft, path.name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        finally:
            os.close(folder_fd)
