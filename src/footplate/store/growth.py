"""Notices writes to files of a folder immediately, through inotify."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from asyncinotify import Inotify, Mask, Watch

log = logging.getLogger(__name__)


class Growth:
    """One inotify instance for all followers; where there is none, callers fall back to their own pace."""

    def __init__(self) -> None:
        self._inotify: Inotify | None = None
        self._reader: asyncio.Task[None] | None = None
        self._listeners: dict[Path, tuple[Watch, list[Callable[[], None]]]] = {}

    @contextmanager
    def listening(self, folder: Path, tell: Callable[[], None]) -> Iterator[None]:
        """Call `tell` whenever a file in the folder is made or written to."""
        added = self._add(folder, tell)
        try:
            yield
        finally:
            if added:
                self._remove(folder, tell)

    def _add(self, folder: Path, tell: Callable[[], None]) -> bool:
        try:
            if self._inotify is None:
                self._inotify = Inotify()
                self._reader = asyncio.create_task(self._read(), name="footplate-growth")
            if folder not in self._listeners:
                watch = self._inotify.add_watch(folder, Mask.MODIFY | Mask.CREATE)
                self._listeners[folder] = (watch, [])
        except OSError as error:
            log.debug("cannot watch %s: %s", folder, error)
            return False
        self._listeners[folder][1].append(tell)
        return True

    def _remove(self, folder: Path, tell: Callable[[], None]) -> None:
        watch, listeners = self._listeners[folder]
        listeners.remove(tell)
        if not listeners:
            del self._listeners[folder]
            with suppress(OSError):
                if self._inotify is not None:
                    self._inotify.rm_watch(watch)

    async def _read(self) -> None:
        assert self._inotify is not None
        async for event in self._inotify:
            known = self._listeners.get(event.watch.path) if event.watch is not None else None
            for tell in list(known[1]) if known else ():
                tell()

    def close(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
        if self._inotify is not None:
            self._inotify.close()
