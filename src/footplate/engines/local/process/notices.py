"""Writes the notice file that tells a task about a coming stop."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from dataclasses import asdict
from pathlib import Path

from footplate.engines.base import Notice
from footplate.machine.taskfiles import open_folder


def give_notice(path: Path, notice: Notice) -> None:
    """Write a notice; it is seen whole or not at all."""
    # A name that nobody can have put something else under.
    draft = f"{path.name}.{uuid.uuid4().hex}"
    # A task may have spoilt its own folder; its stop goes on all the same.
    with contextlib.suppress(OSError):
        folder_fd = open_folder(str(path.parent))
        try:
            draft_fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=folder_fd)
            with os.fdopen(draft_fd, "w") as file:
                file.write(json.dumps(asdict(notice)) + "\n")
            os.replace(draft, path.name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        finally:
            os.close(folder_fd)
