"""Puts a job's code where its tasks start, once."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path


def place_code(source: Path, work_folder: Path) -> None:
    """Copy the code so that the work folder appears with all of it or not at all."""
    if work_folder.exists():
        return
    draft = work_folder.with_name(work_folder.name + ".part")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(source, draft, symlinks=True)
    try:
        draft.rename(work_folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        shutil.rmtree(draft)
