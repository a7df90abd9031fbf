"""Listens for SSH at ports that lead to one task each: where the clients of OpenPAI look for it.

Only for jobs whose file asks for SSH as OpenPAI's do. Their commands name neither job nor task but the port
alone; who comes is known by the key, as at the gateway.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from footplate.dialects.pai import plugins
from footplate.domain.job import Job, Task
from footplate.domain.states import TaskState
from footplate.server.ssh.accepting import Talk, accept, bound, new_door
from footplate.store.store import News, Store

log = logging.getLogger(__name__)

# Each is an open file of the server.
MOST = 512
LABEL = "ssh"


@dataclass(frozen=True, slots=True)
class Behind:
    """The task that a port leads to."""

    job_id: str
    attempt: int
    task: str


@dataclass(frozen=True, slots=True)
class _Open:
    wanted: int
    port: int
    accepting: asyncio.Task[None]


class TaskPorts:
    """Opens a port when such a task runs, and closes it when the task is over."""

    def __init__(self, host: str, talk_for: Callable[[Behind], Talk]) -> None:
        self._host = host
        self._talk_for = talk_for
        self._door = new_door()
        self._open: dict[str, dict[Behind, _Open]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._stop: Callable[[], None] = lambda: None

    def follow(self, store: Store) -> None:
        """Begin with the jobs that there are, and hear of every change to them."""
        self._stop = store.subscribe(self._take)
        for job in list(store.board.values()):
            self._update(job.id, job)

    async def close(self) -> None:
        self._stop()
        for one in [one for ports in self._open.values() for one in ports.values()]:
            self._end(one)
        self._open.clear()
        while self._ending:
            await asyncio.wait(self._ending)

    def of(self, job: Job) -> dict[str, int]:
        """The ports that are open for the tasks of a job's attempt, by their names."""
        known = self._open.get(job.id, {})
        return {behind.task: one.port for behind, one in known.items() if behind.attempt == job.attempt}

    def _take(self, news: News) -> None:
        for job_id, job in news.jobs.items():
            self._update(job_id, job)

    def _update(self, job_id: str, job: Job | None) -> None:
        wanted = {} if job is None else dict(_wanted(job))
        if not wanted and job_id not in self._open:
            return
        known = self._open.setdefault(job_id, {})
        for behind in [one for one, open_ in known.items() if wanted.get(one) != open_.wanted]:
            self._end(known.pop(behind))
        self._open_more(known, wanted)
        if not known:
            del self._open[job_id]

    def _end(self, one: _Open) -> None:
        self._ending.add(one.accepting)
        one.accepting.add_done_callback(self._ending.discard)
        one.accepting.cancel()

    def _open_more(self, known: dict[Behind, _Open], wanted: Mapping[Behind, int]) -> None:
        for behind, port in wanted.items():
            if behind in known or sum(map(len, self._open.values())) >= MOST:
                continue
            listener = self._listen(port)
            if listener is None:
                continue
            accepting = asyncio.create_task(accept(listener, self._talk_for(behind), self._door))
            # Not before the loop has let go of it.
            accepting.add_done_callback(lambda _, listener=listener: listener.close())  # type: ignore[misc]
            known[behind] = _Open(port, listener.getsockname()[1], accepting)

    def _listen(self, port: int) -> socket.socket | None:
        """Listen at the task's own port, or at any where its container or another machine has that."""
        for one in (port, 0):
            with contextlib.suppress(OSError, OverflowError):
                return bound(self._host, one)
        log.warning("there is no port left for SSH into a task")
        return None


def _wanted(job: Job) -> Iterator[tuple[Behind, int]]:
    """The tasks that can be entered now, with the port that each was given for SSH."""
    if plugins.KEY not in job.spec.extras:
        return
    for task in job.tasks:
        if _is_there(job, task) and plugins.wants_ssh(job.spec.extras, task.role):
            numbers = dict(task.ports).get(LABEL, ())
            yield Behind(job.id, job.attempt, task.name), next(iter(numbers), 0)


def _is_there(job: Job, task: Task) -> bool:
    if job.is_kept:
        return (task.role, task.index) in job.kept
    return task.state is TaskState.RUNNING
