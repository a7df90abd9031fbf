"""What a task sees of the machine's files: its own job, the mounts it asked for, a `/tmp` of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Literal

from footplate.domain.errors import EngineRejected
from footplate.engines.base import Request
from footplate.engines.local.mounting import OLD_ROOT

TMP = "/tmp"  # noqa: S108
KERNEL = ("/proc", "/sys", "/dev")
# What programs are made of, the platform's own among them, and where links may lie that anybody made.
SYSTEM = ("/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/run", "/sbin", "/usr", "/var")


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

    @property
    def own(self) -> tuple[str, ...]:
        """Name the folders of the platform itself: its files, and the programs that it runs by."""
        return (self.home, *self.keeps) if self.home else self.keeps


def compose(
    outlook: Outlook, request: Request, task: Mapping[str, Any], masks: Sequence[str]
) -> dict[str, Any]:
    """Describe one task's view the way `mounting.enter_view` reads it."""
    hidden = outlook.hidden
    mounts = [
        [one["source"], one["inner"], _resolve(one["target"], request, outlook.own), one["read_only"]]
        for one in request["mounts"]
    ]
    mounts.sort(key=lambda mount: len(mount[2]))
    keeps = [*job_folders(request, outlook.home), *outlook.keeps]
    # What the queue's settings say, never a variable: a job could name any folder by that.
    if environment := task["environment"]:
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


def _resolve(target: str, request: Request, own: Sequence[str]) -> str:
    """Follow the host's links, once for all: what is mounted later goes there, and nowhere else."""
    path = os.path.realpath(target)
    # The job's own folders may lie wherever the platform put them.
    if target not in request["folders"] and (why := _bad_place(path, own)):
        raise EngineRejected(f"nothing can be mounted at {target}: {why}")
    return path


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


def bad_target(target: str, own: Sequence[str] = (), in_image: bool = False) -> str | None:
    """Say why a job can have nothing mounted at a path, if so; also by where links of the host lead to.

    `own` are the platform's folders. An image's system is the job's to cover.
    """
    path = PurePath(target)
    if not path.is_absolute() or ".." in path.parts or len(path.parts) < 2:
        return "it must be an absolute path below /"
    if in_image:
        return _bad_place(str(path), own, system=())
    return _bad_place(str(path), own) or _bad_place(os.path.realpath(path), own)


def _bad_place(path: str, own: Sequence[str], system: Sequence[str] = (*SYSTEM, OLD_ROOT)) -> str | None:
    if path in (*KERNEL, TMP) or is_below(path, KERNEL):
        return "tasks have their own there"
    if path in system or is_below(path, system):
        return "it belongs to the system"
    if path in own or is_below(path, own) or any(is_below(one, (path,)) for one in own):
        return "the platform has its own files there"
    return None


def overlapping(targets: Sequence[str]) -> tuple[str, str] | None:
    """Find two paths of which one lies in the other, if there are such."""
    real = sorted((os.path.realpath(target) for target in targets), key=lambda path: path.split("/"))
    for outer, inner in pairwise(real):
        if inner == outer or is_below(inner, (outer,)):
            return outer, inner
    return None


def is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(folder + "/") for folder in folders)


def outermost(paths: Iterable[str]) -> list[str]:
    """Leave out doubles and what lies within another of the paths."""
    unique = list(dict.fromkeys(paths))
    return [path for path in unique if not is_below(path, unique)]
