"""Storages: named places for files, who may use them, and what jobs mount of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

# The storage that every job has: its own folders.
OWN = "job"
OWN_FOLDERS = ("output", "checkpoints", "code")


class StorageKind(StrEnum):
    FOLDER = "folder"
    S3 = "s3"
    HTTP = "http"


class Origin(StrEnum):
    """Where a storage is kept: in the settings file, or in the database, where admins can change it."""

    SETTINGS = "settings"
    DATABASE = "database"


class Access(IntEnum):
    """What somebody may do with a storage; each includes the ones before."""

    NONE = 0
    READ = 1
    WRITE = 2


@dataclass(frozen=True, slots=True)
class Storage:
    """A place for files that people and jobs may use by name.

    `queues` and `users` name who may use it, everybody when both are empty; `writers` says who of them may
    write, as `queue:NAME` or `user:NAME`, all when it is empty. One that is `per_user` gives each person a
    folder that nobody else sees. One that `is_own` is a folder that the server keeps in its own home.
    """

    name: str
    path: str = ""
    read_only: bool = True
    queues: tuple[str, ...] = ()
    description: str = ""
    kind: StorageKind = StorageKind.FOLDER
    users: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    per_user: bool = False
    quota_bytes: int | None = None
    # Of a bucket, or of a web server.
    endpoint: str = ""
    bucket: str = ""
    region: str = ""
    prefix: str = ""
    virtual_style: bool = False
    is_private: bool = False
    is_own: bool = False
    origin: Origin = Origin.SETTINGS
    # Who else may use it, as one of a group.
    members: tuple[str, ...] = ()

    def access_of(self, user: str, queues: Mapping[str, bool]) -> Access:
        """What a person may do who is in some queues, and may submit in those that are true."""
        if self.per_user:
            return Access.WRITE
        is_for_all = not (self.queues or self.users)
        is_named = user in self.users or user in self.members
        if not (is_for_all or is_named or any(queue in queues for queue in self.queues)):
            return Access.NONE
        if self.read_only or self.kind is StorageKind.HTTP:
            return Access.READ
        if self.writers:
            writes = _is_named(self.writers, user, queues)
        else:
            writes = is_for_all or is_named or any(queues.get(queue) for queue in self.queues)
        return Access.WRITE if writes else Access.READ

    def is_staged(self, source: str) -> bool:
        """Whether tasks are given a copy of what a path or a pattern names: where it cannot be mounted."""
        return self.kind is not StorageKind.FOLDER or is_pattern(source)

    def path_for(self, person: str, number: int) -> str:
        """The folder that a person sees: the whole storage, or their own; a later namesake has another."""
        return f"{self.path}/{person}-{number}" if self.per_user else self.path

    def access_of_job(self, owner: str, queue: str) -> Access:
        """What the tasks of a job may do."""
        return self.access_of(owner, {queue: True})


def _is_named(writers: tuple[str, ...], user: str, queues: Mapping[str, bool]) -> bool:
    return f"user:{user}" in writers or any(f"queue:{name}" in writers for name in queues if queues[name])


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that comes in pieces; `done_bytes` of it have come and have the announced digests."""

    id: str
    storage: str
    path: str
    owner: str
    size_bytes: int
    if_exists: str
    sha256: str
    is_executable: bool
    created_at: float
    done_bytes: int
    # What the client knows the file by, to go on with it later.
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Volume:
    """Something of a storage that tasks find at a path of their own; without one, the engine says where.

    `inner` is what is meant on the storage; links on the way to it may not lead out of the storage. The
    storage `job` is the job's own: its output, its checkpoints, its code. One that is `staged` cannot be
    mounted: the engine brings a copy, which tasks only read. `inner` may be a pattern then. `of_job` names
    another job whose own storage is meant.
    """

    storage: str
    inner: str
    target: str = ""
    read_only: bool = True
    staged: bool = False
    of_job: str = ""


@dataclass(frozen=True, slots=True)
class ResultVolumes:
    """What keeps the results of a job: tasks write there, and whoever fetches them reads from there."""

    output: Volume = Volume(OWN, "output", read_only=False)
    checkpoints: Volume = Volume(OWN, "checkpoints", read_only=False)


# On the home's own storage, as those of all jobs are so far.
IN_OWN_FOLDERS = ResultVolumes()


_PATTERN = re.compile(r"[*?\[]")


def is_pattern(path: str) -> bool:
    """Tell whether a path names files by a pattern (`*`, `?`, `[…]`; `**` is any number of folders)."""
    return _PATTERN.search(path) is not None


def fixed_part(path: str) -> str:
    """The folder that a pattern begins with; a path without one is all of it."""
    names = path.split("/")
    n_fixed = next((i for i, name in enumerate(names) if is_pattern(name)), len(names))
    return "/".join(names[:n_fixed])


def overlap(one: str, other: str) -> bool:
    """Tell whether one of two folders is the other, or lies in it."""
    return one == other or _lies_in(one, other) or _lies_in(other, one)


def _lies_in(inner: str, outer: str) -> bool:
    return inner.startswith(outer.rstrip("/") + "/")
