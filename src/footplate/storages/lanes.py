"""Threads in which storages are waited for, a few for each: one that hangs holds up nobody else.

A thread that waits for a dead file server cannot be ended, only left. So these threads are daemons, which
nobody joins; they end by themselves when there is nothing to do, and an idle server has none.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from footplate.domain.errors import StorageAway

T = TypeVar("T")
MOST_THREADS = 4
IDLE_S = 10.0
SILENT_AFTER_S = 30.0

_Work = tuple[Future[Any], Callable[[], Any]]


class Lane:
    """Runs work for one storage; refuses more while it has been silent for too long.

    Without `silent_after_s` work may take as long as it wants.
    """

    def __init__(self, name: str, silent_after_s: float | None = SILENT_AFTER_S) -> None:
        self._name = name
        self._silent_after_s = silent_after_s
        self._waiting: queue.SimpleQueue[_Work] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._n_threads = self._n_idle = 0
        # When each thread began what it does now.
        self._since: dict[int, float] = {}

    async def run(self, work: Callable[[], T]) -> T:
        """Run something in a thread; raise `StorageAway` when the storage does not answer in time."""
        self._require_answer()
        future: Future[T] = Future()
        self._put((future, work))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._silent_after_s)
        except TimeoutError:
            # The storage's own errors may be of this kind as well.
            if future.done() and not future.cancelled():
                raise
            raise self._silence() from None

    def _require_answer(self) -> None:
        """Raise at once when all threads wait for a storage that does not answer."""
        if self._silent_after_s is None:
            return
        stuck_since = time.monotonic() - self._silent_after_s
        if sum(begun < stuck_since for begun in list(self._since.values())) >= MOST_THREADS:
            raise self._silence()

    def _silence(self) -> StorageAway:
        return StorageAway("storage_silent", storage=self._name, seconds=self._silent_after_s)

    def _put(self, work: _Work) -> None:
        with self._lock:
            self._waiting.put(work)
            if self._n_idle >= self._waiting.qsize() or self._n_threads >= MOST_THREADS:
                return
            self._n_threads += 1
        threading.Thread(target=self._serve, name=f"footplate-storage-{self._name}", daemon=True).start()

    def _serve(self) -> None:
        while (work := self._next()) is not None:
            future, run = work
            if not future.set_running_or_notify_cancel():
                continue
            self._since[threading.get_ident()] = time.monotonic()
            try:
                future.set_result(run())
            except BaseException as error:  # noqa: BLE001  # the top of this thread: whoever waits gets it
                future.set_exception(error)
            finally:
                self._since.pop(threading.get_ident(), None)
            del work, future, run

    def _next(self) -> _Work | None:
        with self._lock:
            self._n_idle += 1
        try:
            return self._waiting.get(timeout=IDLE_S)
        except queue.Empty:
            return self._leave()
        finally:
            with self._lock:
                self._n_idle -= 1

    def _leave(self) -> _Work | None:
        with self._lock:
            # Something may have come in the last moment, counting on this thread.
            try:
                return self._waiting.get_nowait()
            except queue.Empty:
                self._n_threads -= 1
                return None


class Lanes:
    """Two lanes for each storage, made when they are first needed: for short work, and for long."""

    def __init__(self, silent_after_s: float = SILENT_AFTER_S) -> None:
        self._silent_after_s = silent_after_s
        self._short: dict[str, Lane] = {}
        self._long: dict[str, Lane] = {}

    def of(self, name: str) -> Lane:
        """For what a storage answers at once, if it answers."""
        if name not in self._short:
            self._short[name] = Lane(name, self._silent_after_s)
        return self._short[name]

    def long_of(self, name: str) -> Lane:
        """For what may rightly take long, such as the copy of a folder; it keeps no short work waiting."""
        if name not in self._long:
            self._long[name] = Lane(name, None)
        return self._long[name]
