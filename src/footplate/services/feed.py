"""Live events: passes the events of every commit to the followers of one job or of all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from footplate.store.rows import EventRecord
from footplate.store.store import News, Store

Listener = Callable[[EventRecord], None]
MOST_HELD = 10_000


class Feed:
    """Fans events out; a listener costs nothing for commits that are not about its job."""

    def __init__(self, store: Store) -> None:
        self._by_job: dict[str, list[Listener]] = {}
        self._of_all: list[Listener] = []
        self.close = store.subscribe(self._take)

    def _take(self, news: News) -> None:
        if not self._by_job and not self._of_all:
            return
        for event in news.events:
            for listener in (*self._by_job.get(event.job_id, ()), *self._of_all):
                listener(event)

    @contextmanager
    def listening(self, job_id: str | None, listener: Listener) -> Iterator[None]:
        """Call a listener with every event of a job, or of all jobs."""
        listeners = self._of_all if job_id is None else self._by_job.setdefault(job_id, [])
        listeners.append(listener)
        try:
            yield
        finally:
            listeners.remove(listener)
            if job_id is not None and not listeners:
                self._by_job.pop(job_id, None)


class Inbox:
    """Events that wait for a slow reader; `has_gap` tells that it must read the log itself."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._held: deque[EventRecord] = deque()
        self.has_gap = False

    def put(self, event: EventRecord) -> None:
        if len(self._held) >= MOST_HELD:
            self._held.clear()
            self.has_gap = True
        if not self.has_gap:
            self._held.append(event)
        self._wake()

    def take(self) -> list[EventRecord]:
        taken = list(self._held)
        self._held.clear()
        return taken
