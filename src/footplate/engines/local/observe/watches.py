"""Notices immediately when a running task ends, also one adopted from an earlier server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field

from footplate.engines.local.observe.records import Identity

HOME_ID = "FOOTPLATE_HOME_ID"


@dataclass(frozen=True, slots=True)
class TaskKey:
    """Names one run of one task; `run` counts how often the task was started again by itself.

    `home_id` tells the tasks of one home folder from those of a copy of it.
    """

    attempt_id: str
    role: str
    index: int
    run: int = 0
    in_container: bool = False
    home_id: str = ""

    @property
    def task(self) -> str:
        return f"{self.role}-{self.index}"

    @property
    def marks(self) -> tuple[str, ...]:
        """The variables that identify the processes of a task."""
        home = (f"{HOME_ID}={self.home_id}",) if self.home_id else ()
        return (f"FOOTPLATE_ATTEMPT_ID={self.attempt_id}", f"FOOTPLATE_TASK={self.task}", *home)

    @property
    def marks_of_run(self) -> tuple[str, ...]:
        """The same, without the processes of other runs of the task."""
        return (*self.marks, f"FOOTPLATE_TASK_RUN={self.run}")


@dataclass(eq=False)
class Watch:
    """One running task; `ended` is set when its shim is gone."""

    key: TaskKey
    identity: Identity
    started_at: float
    pidfd: int
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Watches:
    """All tasks known to run, one descriptor each."""

    def __init__(self, tell: Callable[[Watch], None]) -> None:
        self._tell = tell
        self._by_key: dict[TaskKey, Watch] = {}
        self._by_identity: dict[Identity, Watch] = {}

    def of(self, identity: Identity) -> Watch | None:
        return self._by_identity.get(identity)

    def find(self, key: TaskKey) -> Watch | None:
        return self._by_key.get(key)

    def attempt_ids(self) -> set[str]:
        return {key.attempt_id for key in self._by_key}

    def identities(self) -> list[Identity]:
        return [watch.identity for watch in self._by_key.values()]

    def add(self, key: TaskKey, identity: Identity, started_at: float, pidfd: int) -> Watch:
        """Watch a task from now on; the descriptor becomes ours."""
        known = self._by_key.get(key)
        if known is not None:
            os.close(pidfd)
            return known
        watch = self._by_key[key] = Watch(key, identity, started_at, pidfd)
        self._by_identity[identity] = watch
        asyncio.get_running_loop().add_reader(pidfd, self.end, watch)
        return watch

    def end(self, watch: Watch) -> None:
        """Watch a task no more, and say that it has ended."""
        self._drop(watch)
        watch.ended.set()
        self._tell(watch)

    def _drop(self, watch: Watch) -> None:
        asyncio.get_running_loop().remove_reader(watch.pidfd)
        os.close(watch.pidfd)
        del self._by_key[watch.key]
        self._by_identity.pop(watch.identity, None)

    def close(self) -> None:
        for watch in list(self._by_key.values()):
            self._drop(watch)
