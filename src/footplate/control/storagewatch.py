"""Detects storages that do not answer: one process probes each, and nothing else touches it."""

from __future__ import annotations

import asyncio
import errno
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from footplate.domain.errors import EngineUnavailable
from footplate.domain.messages import Message, say
from footplate.domain.storage import Storage
from footplate.machine.probe_client import Asker, Place

log = logging.getLogger(__name__)

SILENT_AFTER_S = 30.0
# Until a storage counts as silent, jobs that need it have been placed and hold room: soon no more of them.
DOUBTFUL_AFTER_S = 1.0
ASK_AGAIN_S = 1.0
# What a file system says whose server is away, or whose daemon has died.
AWAY = frozenset(
    {
        errno.EIO,
        errno.ENOTCONN,
        errno.ESTALE,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.ENETUNREACH,
        errno.ECONNREFUSED,
        errno.ECONNABORTED,
        errno.ESHUTDOWN,
        errno.EREMOTEIO,
    }
)


@dataclass(slots=True)
class _Line:
    """What is known of one storage."""

    asker: Asker = field(default_factory=Asker)
    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    asked_at: float | None = None
    silence: Message | None = None
    # Where it was mounted when it last answered.
    mount: str = ""


class StorageWatch:
    """Finds things on storages; of one that does not answer it says so at once, until it answers again."""

    def __init__(self, silent_after_s: float = SILENT_AFTER_S) -> None:
        self._silent_after_s = silent_after_s
        self._doubtful_after_s = min(DOUBTFUL_AFTER_S, silent_after_s / 2)
        self._lines: dict[str, _Line] = {}
        self._work: set[asyncio.Task[Any]] = set()
        self._listeners: list[Callable[[], None]] = []

    def on_answer(self, tell: Callable[[], None]) -> None:
        """Have somebody told when a silent storage answers again."""
        self._listeners.append(tell)

    def silences(self) -> dict[str, Message]:
        """Name the storages on which nobody should count now, and say why."""
        doubtful_since = time.monotonic() - self._doubtful_after_s
        return {
            name: line.silence or say("storage_silent", storage=name, seconds=self._doubtful_after_s)
            for name, line in self._lines.items()
            if line.silence or (line.asked_at is not None and line.asked_at < doubtful_since)
        }

    async def locate(self, storage: Storage, inner: str) -> Place:
        """Find a path on a storage; raise `EngineUnavailable` when it is silent, else OSError as it says."""
        line = self._lines.get(storage.name)
        if line is None:
            line = self._lines[storage.name] = _Line()
        # Whoever no longer wants to know does not take the question back: others wait for the answer too.
        return await asyncio.shield(self._begin(self._locate(line, storage, inner)))

    def _begin(self, work: Coroutine[None, None, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        return task

    async def _locate(self, line: _Line, storage: Storage, inner: str) -> Place:
        async with line.one_at_a_time:
            if line.silence:
                raise EngineUnavailable(line.silence)
            line.asked_at = time.monotonic()
            try:
                place = await line.asker.locate(storage.path, inner, self._silent_after_s)
            except OSError as error:
                if (silence := self._absence(storage, error)) is None:
                    raise
                line.silence = silence
                log.warning("%s", line.silence)
                self._begin(self._await_answer(line, storage))
                raise EngineUnavailable(line.silence) from None
            finally:
                line.asked_at = None
            line.mount = place.mount
            return place

    def _absence(self, storage: Storage, error: OSError) -> Message | None:
        """Say how a storage is away; None for an error that only one that is there can give."""
        if isinstance(error, TimeoutError):
            return say("storage_silent", storage=storage.name, seconds=self._silent_after_s)
        if error.errno not in AWAY:
            return None
        return say("storage_away", storage=storage.name, error=error.strerror or str(error))

    async def _await_answer(self, line: _Line, storage: Storage) -> None:
        """Ask a silent storage for a sign of life; while it is silent, nobody else does."""
        while not await self._is_back(line, storage):
            await asyncio.sleep(ASK_AGAIN_S)
        line.silence = None
        log.warning("storage %s answers again", storage.name)
        for tell in self._listeners:
            tell()

    async def _is_back(self, line: _Line, storage: Storage) -> bool:
        try:
            place = await line.asker.locate(storage.path, "", self._silent_after_s)
        except OSError as error:
            return self._absence(storage, error) is None and not line.mount
        # Unmounted, it would be the empty folder at which it is mounted.
        return line.mount in ("", place.mount)

    async def close(self) -> None:
        work = list(self._work)
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        await asyncio.gather(*(line.asker.close() for line in self._lines.values()))
