"""What a task sees of the machine's files: its own job, the mounts it asked for, a `/tmp` of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from footplate.engines.base import Request
from footplate.engines.local.targets import TMP, is_below


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the views of one server's tasks have in common.

    `home` is hidden but for the task's own job; `keeps` stay visible wherever they lie; `sealed` are trees
    that tasks can only read. Paths are without links. `how` says by which right views are made, `is_apart`
    whether the tasks of each person are in a user namespace of theirs besides.
    """

    how: Literal["root", "user"] = "root"
    home: str = ""
    keeps: tuple[str, ...] = ()
    sealed: tuple[str, ...] = ()
    is_apart: bool = False

    @property
    def hidden(self) -> tuple[str, ...]:
        return (TMP, self.home) if self.home else (TMP,)

    @property
    def own(self) -> tuple[str, ...]:
        """Name the folders of the platform itself: its files, and the programs that it runs by."""
        return (self.home, *self.keeps) if self.home else self.keeps


def compose(
    outlook: Outlook, request: Request, task: Mapping[str, Any], masks: Sequence[str]
) -> dict[str, Any]:
    """Describe one task's view the way `mounting.enter_view` reads it."""
    hidden = outlook.hidden
    mounts = [[one["source"], one["inner"], one["target"], one["read_only"]] for one in request["mounts"]]
    keeps = [*job_folders(request, outlook.home), *outlook.keeps]
    # What the queue's settings say, never a variable: a job could name any folder by that.
    if environment := task["environment"]:
        keeps.append(environment)
    return {
        "tmp": tmp_folder(task),
        "covers": [outlook.home] if outlook.home and not is_below(outlook.home, (TMP,)) else [],
        "keeps": outermost(path for path in keeps if is_below(path, hidden)),
        "mounts": mounts,
        "hidden": list(hidden),
        "own": list(outlook.own),
        # The job's own folders may lie wherever the platform put them.
        "free": list(request["folders"]),
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


def outermost(paths: Iterable[str]) -> list[str]:
    """Leave out doubles and what lies within another of the paths."""
    unique = list(dict.fromkeys(paths))
    return [path for path in unique if not is_below(path, unique)]
