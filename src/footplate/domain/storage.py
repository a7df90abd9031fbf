"""Storages: named folders from which jobs can mount data and code."""

from __future__ import annotations

from dataclasses import dataclass

# The storage that every job has: its own folders.
OWN = "job"
OWN_FOLDERS = ("output", "checkpoints", "code")


@dataclass(frozen=True, slots=True)
class Storage:
    """A folder of the host that jobs of some queues, or of all, may use."""

    name: str
    path: str
    read_only: bool = True
    queues: tuple[str, ...] = ()
    description: str = ""

    def is_open_to(self, queue: str) -> bool:
        return not self.queues or queue in self.queues


def overlap(one: str, other: str) -> bool:
    """Tell whether one of two folders is the other, or lies in it."""
    return one == other or _lies_in(one, other) or _lies_in(other, one)


def _lies_in(inner: str, outer: str) -> bool:
    return inner.startswith(outer.rstrip("/") + "/")
