"""The logs of all tasks: one for each task of each attempt, whoever writes it.

Tasks of the local engine write the very file that is read here. What another engine's tasks print is
followed, and appended.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from footplate.domain.mask import Mask
from footplate.home.layout import folder_of_task
from footplate.machine.taskfiles import unfollowed
from footplate.store.growth import Growth
from footplate.store.logfiles import NO_MASK, LogFile


class Logs:
    """Finds logs by attempt and task, such as `2me19e9zbny0.0` and `worker-1`."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._growth = Growth()

    def open(self, attempt_id: str, task: str, mask: Mask = NO_MASK) -> LogFile:
        """Hand out the log of a task; one that has none yet reads as empty."""
        return LogFile(folder_of_task(self._home, attempt_id, task), mask)

    def listen(self, log: LogFile, tell: Callable[[], None]) -> AbstractContextManager[None]:
        """Have `tell` called when a log grows; where that cannot be heard, callers look at their own pace."""
        return self._growth.listening(log.path.parent, tell)

    def append(self, attempt_id: str, task: str, data: bytes) -> None:
        """Add what a task has printed, for an engine whose tasks do not write here themselves."""
        log = self.open(attempt_id, task)
        log.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = unfollowed(str(log.path), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with os.fdopen(descriptor, "ab") as file:
            file.write(data)

    def close(self) -> None:
        self._growth.close()
