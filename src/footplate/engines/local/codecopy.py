"""Puts a job's code where its tasks start, once."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from footplate.taskfiles import check_folder


def place_code(source: Path, work_folder: Path) -> None:
    """Copy the code so that the work folder appears with all of it or not at all."""
    if os.path.lexists(work_folder):
        return
    work_folder.parent.mkdir(parents=True, exist_ok=True)
    for folder in (source, work_folder.parent):
        # An earlier attempt may have put a link to what its tasks must not see there.
        check_folder(folder)
    draft = work_folder.with_name(work_folder.name + ".part")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(source, draft, symlinks=True)
    try:
        draft.rename(work_folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        shutil.rmtree(draft)
