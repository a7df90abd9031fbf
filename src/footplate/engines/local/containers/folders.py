"""The folders that a task's container is given, made before it starts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from footplate.domain.errors import EngineUnavailable
from footplate.engines.local.exchange import LocalRequest, LocalTask
from footplate.engines.local.kinds import mark_container
from footplate.machine.foldertree import walk
from footplate.machine.taskfiles import check_folder, open_folder


def make_folders(request: LocalRequest, tasks: Sequence[LocalTask], user: str) -> None:
    """Make what is missing; a user other than the server's gets the folders to write to."""
    try:
        folders = [Path(folder) for folder in request["folders"]]
        for task in tasks:
            folders += [Path(task["folder"]), Path(task["work_folder"])]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            # The engine, and whoever hands them over, would follow a link that an earlier run left.
            check_folder(folder)
        for task in tasks:
            mark_container(Path(task["folder"]))
        if user and os.geteuid() == 0:
            _hand_over(folders, *map(int, user.split(":")))
    except OSError as error:
        raise EngineUnavailable("folders_not_made", error=str(error)) from error


def _hand_over(folders: Iterable[Path], uid: int, gid: int) -> None:
    for folder in folders:
        # What an earlier attempt has written into it is that user's already.
        if folder.stat().st_uid == uid:
            continue
        folder_fd = open_folder(str(folder))
        try:
            for _, _, files, fd in walk(folder_fd):
                for name in (".", *files):
                    os.chown(name, uid, gid, dir_fd=fd, follow_symlinks=False)
        finally:
            os.close(folder_fd)
