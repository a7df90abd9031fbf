"""Samples the size of each log over time, and enforces the maximum log size."""

from __future__ import annotations

import asyncio
import logging

from footplate.control.context import Context
from footplate.domain.states import JobState
from footplate.store.logfiles import LogFile

log = logging.getLogger(__name__)


class LogKeeper:
    """Samples the logs of running tasks once in a while."""

    def __init__(self, context: Context, cap_bytes: int) -> None:
        self._context = context
        self._cap_bytes = cap_bytes
        # By attempt and task.
        self._sizes: dict[tuple[str, str], int] = {}

    async def sample(self) -> None:
        names = [
            (job.attempt_id, task.name)
            for job in list(self._context.store.board.values())
            if job.state in (JobState.STARTING, JobState.RUNNING, JobState.STOPPING)
            for task in job.tasks
            if task.started_at is not None
        ]
        self._sizes = {name: self._sizes.get(name, -1) for name in names}
        if names:
            await asyncio.to_thread(self._sample_each, names)

    def _sample_each(self, names: list[tuple[str, str]]) -> None:
        now = self._context.clock.now()
        for name in names:
            file = self._context.logs.open(*name)
            size = file.size
            if size == self._sizes[name]:
                continue
            self._sizes[name] = size
            try:
                file.sample(now, size)
                if size > self._cap_bytes:
                    self._cap(file, size)
            except OSError as error:
                log.warning("cannot look after %s: %s", file.path, error)

    def _cap(self, file: LogFile, size: int) -> None:
        kept = size - sum(end - start for start, end in file.holes())
        if kept > self._cap_bytes and not file.drop_middle(self._cap_bytes):
            log.warning("%s is beyond its cap, and its file system cannot give back a part of it", file.path)
