"""What a task sees of the machine's files: its own job, the mounts it asked for, a `/tmp` of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from footplate.engines.base import Request

TMP = "/tmp"  # noqa: S108
KERNEL = ("/proc", "/sys", "/dev")


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the views of one server's tasks have in common.

    `home` is hidden but for the task's own job; `keeps` stay visible wherever they lie; `sealed` are trees
    that tasks can only read. Paths are without links. `how` says by which right views are made.
    """

    how: Literal["root", "user"] = "root"
    home: str = ""
    keeps: tuple[str, ...] = ()
    sealed: tuple[str, ...] = ()

    @property
    def hidden(self) -> tuple[str, ...]:
        return (TMP, self.home) if self.home else (TMP,)


def compose(
    outlook: Outlook, request: Request, task: Mapping[str, Any], masks: Sequence[str]
) -> dict[str, Any]:
    """Describe one task's view the way `mounting.enter_view` reads it."""
    hidden = outlook.hidden
    mounts = [
        [one["source"], one["inner"], os.path.realpath(one["target"]), one["read_only"]]
        for one in request["mounts"]
    ]
    mounts.sort(key=lambda mount: len(mount[2]))
    keeps = [*job_folders(request, outlook.home), *outlook.keeps]
    if environment := task["env"].get("VIRTUAL_ENV"):
        keeps.append(environment)
    return {
        "shadows": shadows([target for _, _, target, _ in mounts], hidden),
        "tmp": tmp_folder(task),
        "covers": [outlook.home] if outlook.home and not is_below(outlook.home, (TMP,)) else [],
        "keeps": outermost(path for path in keeps if is_below(path, hidden)),
        "mounts": mounts,
        "masks": list(masks),
        "shm_bytes": task["shm_bytes"],
    }


def tmp_folder(task: Mapping[str, Any]) -> str:
    return f"{task['folder']}/tmp"  # noqa: S108  # in the task's own folder


def job_folders(request: Request, home: str) -> list[str]:
    """Name the folders of the request's job: the one around all of them, where it holds nothing else."""
    folders = [request["folder"], *request["folders"]]
    around = {folder.rpartition("/")[0] for folder in folders}
    if home and len(folders) > 1 and len(around) == 1 and is_below(min(around), (f"{home}/jobs",)):
        return list(around)
    return folders


def shadows(targets: Iterable[str], hidden: Sequence[str]) -> list[str]:
    """Name the folders of the host that must be built anew, since a target does not exist in them."""
    found = set()
    for target in targets:
        if not os.path.lexists(target) and not is_below(target, hidden):
            found.add(next(str(one) for one in PurePath(target).parents if os.path.isdir(one)))  # noqa: PTH112
    return sorted(found, key=len)


def bad_target(target: str) -> str | None:
    """Say why nothing can be mounted at a path, if so."""
    path = PurePath(target)
    if not path.is_absolute() or ".." in path.parts or len(path.parts) < 2:
        return "it must be an absolute path below /"
    if target in (*KERNEL, TMP) or is_below(target, KERNEL):
        return "tasks have their own there"
    return None


def is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(folder + "/") for folder in folders)


def outermost(paths: Iterable[str]) -> list[str]:
    """Leave out doubles and what lies within another of the paths."""
    unique = list(dict.fromkeys(paths))
    return [path for path in unique if not is_below(path, unique)]
