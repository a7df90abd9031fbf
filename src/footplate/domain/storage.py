"""Storages: named folders from which jobs can mount data and code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

# The storage that every job has: its own folders.
OWN = "job"
OWN_FOLDERS = ("output", "checkpoints", "code")


@dataclass(frozen=True, slots=True)
class Storage:
    """A folder of the host that jobs of some queues, or of all, may use."""

    name: str
    path: Path
    read_only: bool = True
    queues: tuple[str, ...] = ()
    description: str = ""

    def is_open_to(self, queue: str) -> bool:
        return not self.queues or queue in self.queues


def overlap(one: PurePath, other: PurePath) -> bool:
    """Tell whether one of two folders is the other, or lies in it."""
    return one == other or one in other.parents or other in one.parents
