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


@dataclass(frozen=True, slots=True)
class Volume:
    """Something of a storage that tasks find at a path of their own; without one, the engine says where.

    `inner` is what is meant on the storage; links on the way to it may not lead out of the storage. The
    storage `job` is the job's own: its output, its checkpoints, its code.
    """

    storage: str
    inner: str
    target: str = ""
    read_only: bool = True


@dataclass(frozen=True, slots=True)
class ResultVolumes:
    """What keeps the results of a job: tasks write there, and whoever fetches them reads from there."""

    output: Volume = Volume(OWN, "output", read_only=False)
    checkpoints: Volume = Volume(OWN, "checkpoints", read_only=False)


# On the home's own storage, as those of all jobs are so far.
IN_OWN_FOLDERS = ResultVolumes()


def overlap(one: str, other: str) -> bool:
    """Tell whether one of two folders is the other, or lies in it."""
    return one == other or _lies_in(one, other) or _lies_in(other, one)


def _lies_in(inner: str, outer: str) -> bool:
    return inner.startswith(outer.rstrip("/") + "/")
