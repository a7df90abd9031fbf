"""Where in a task's view something may be mounted; shared by the server and the process that mounts.

Standard library only, nothing slow to import. The server judges by the words of a path alone, since a file
system of the host may hang; where links of the host lead is looked up in the process that mounts.
"""

# Without pathlib the processes that start tasks start sooner and stay smaller.
# ruff: noqa: PTH112, PTH120
from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from itertools import pairwise

TMP, VAR_TMP = "/tmp", "/var/tmp"  # noqa: S108
OLD_ROOT = "/.footplate-old-root"
KERNEL = ("/proc", "/sys", "/dev")
# What programs are made of, the platform's own among them, and where links may lie that anybody made.
SYSTEM = ("/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/run", "/sbin", "/usr", "/var")


def bad_target(target: str, own: Sequence[str] = (), in_image: bool = False) -> str | None:
    """Say, in a word that messages know, why a job can have nothing mounted at a path, by its name alone.

    `own` are the platform's folders. An image's system is the job's to cover.
    """
    if not target.startswith("/") or ".." in target.split("/") or not target.strip("/"):
        return "not_absolute"
    path = plain(target)
    return bad_place(path, own, system=()) if in_image else bad_place(path, own)


def bad_place(path: str, own: Sequence[str], system: Sequence[str] = (*SYSTEM, OLD_ROOT)) -> str | None:
    if path in (*KERNEL, TMP) or is_below(path, KERNEL):
        return "own_of_task"
    if path in system or is_below(path, system):
        return "system"
    if path in own or is_below(path, own) or any(is_below(one, (path,)) for one in own):
        return "platform"
    return None


def resolve(target: str, own: Sequence[str]) -> str:
    """Follow the host's links, once for all: what is mounted later goes there, and nowhere else."""
    path = os.path.realpath(target)
    if why := bad_place(path, own):
        raise PermissionError(errno.EPERM, f"{path} is not a place for data ({why})")
    return path


def overlapping(targets: Sequence[str]) -> tuple[str, str] | None:
    """Find two paths of which one lies in the other, if there are such."""
    paths = sorted(map(plain, targets), key=lambda path: path.split("/"))
    for outer, inner in pairwise(paths):
        if inner == outer or is_below(inner, (outer,)):
            return outer, inner
    return None


def shadows(targets: Iterable[str], hidden: Sequence[str]) -> list[str]:
    """Name the folders of the host that must be rebuilt, because a target does not exist in them."""
    found = set()
    for target in targets:
        if not os.path.lexists(target) and not is_below(target, hidden):
            folder = os.path.dirname(target)
            while not os.path.isdir(folder):
                folder = os.path.dirname(folder)
            found.add(folder)
    return sorted(found, key=len)


def plain(path: str) -> str:
    """Write an absolute path with no slash too many."""
    return "/" + os.path.normpath(path).lstrip("/")


def is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(folder + "/") for folder in folders)
