"""Whether a task runs in a container or as a process: remembered, or found again from its folder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from footplate.engines.local.observe.watches import TaskKey

# Written before the container engine is asked for anything.
MARK = "container"
MOST_REMEMBERED = 20_000


class Kinds:
    """Completes the names of tasks by how they run."""

    def __init__(self) -> None:
        # By a name that does not say it yet.
        self._known: dict[TaskKey, TaskKey] = {}

    def learn(self, keys: Iterable[TaskKey]) -> None:
        """Take note of how tasks are about to be started."""
        if len(self._known) > MOST_REMEMBERED:
            # Whatever is asked for again is found again.
            self._known.clear()
        for key in keys:
            self._known[replace(key, in_container=False) if key.in_container else key] = key

    def complete(self, key: TaskKey, folder: Path) -> TaskKey:
        """Say how a task runs, by its folder where an earlier server has started it."""
        known = self._known.get(key)
        if known is None:
            known = replace(key, in_container=True) if (folder / MARK).exists() else key
            # One that has not begun may still be started either way.
            if folder.exists():
                self.learn([known])
        return known


def mark_container(folder: Path) -> None:
    """Leave in a task's folder that a container runs it."""
    (folder / MARK).touch()
