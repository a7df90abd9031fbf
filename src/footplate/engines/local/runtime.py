"""The two ways to run a task on this machine, as the local engine sees them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from footplate.engines.local.exchange import Answer, LocalRequest, LocalTask
from footplate.engines.local.observe.task import Observed
from footplate.engines.local.observe.watches import TaskKey, Watch


class Runtime(Protocol):
    """Starts tasks and ends them. What a task has come to is in the files of its folder.

    A started task has claimed its folder with a process of this machine, which ends when the task does;
    the exit code is in the folder before that process ends.
    """

    async def start(self, request: LocalRequest, tasks: Sequence[LocalTask]) -> Sequence[Answer]:
        """Start those tasks that were never started, and answer for each."""
        ...

    async def ask_to_end(self, watches: Collection[Watch]) -> set[Watch]:
        """Ask tasks to end; return those that could not be asked yet."""
        ...

    async def kill(self, watches: Collection[Watch], for_s: float) -> None:
        """End all that tasks run, by force; `for_s` says for how long that has been tried."""
        ...

    async def observe(self, tasks: Mapping[TaskKey, Path]) -> Mapping[TaskKey, Observed]:
        """Observe tasks that are not watched; processes that a lost task left running are killed first."""
        ...

    async def clear(self, tasks: Mapping[TaskKey, Path]) -> Collection[TaskKey]:
        """End and remove whatever stopped tasks have left; return those that could not be cleared."""
        ...

    async def close(self) -> None:
        """Let go of what the runtime holds; tasks go on."""
        ...
