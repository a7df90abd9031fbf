"""The process that starts tasks: small, single-threaded, standard library only.

It reads requests from its standard input, a stream socket, one JSON object a line:
`{"id": 1, "env": {...}, "tasks": [{"folder", "folders", "passages", "given", "work_folder", "log", "argv",
"words", "env", "groups", "counters", "joins", "data_bytes", "view", "account"}, ...]}`,
and answers `{"id": 1, "tasks": [{"pid", "start_ticks", "at"} | {"exists": true} | {"error": ...}, ...]}`
as soon as every task has become its program; `{"id": 1, "ping": true}` is answered at once. When the server
goes away it leaves; the tasks go on. The second argument says how tasks are confined, as JSON, which `Ground`
reads.

A file system may hang for ever. Whatever touches one that is not the platform's own is therefore done in
children, which are ended when their time is up; slow ones keep nobody else's tasks from being started.
"""

# Without pathlib this process starts sooner and stays smaller.
# ruff: noqa: PTH110
from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING

from footplate.engines.local.process import inplace
from footplate.engines.local.process.becoming import become, failure, tell
from footplate.engines.local.process.ground import Ground

if TYPE_CHECKING:
    # Not for the process itself, which is to start soon and stay small.
    from footplate.engines.local.exchange import Answer, News, NotStarted, Ping, SpawnRequest, TaskOrder


CHUNK_BYTES = 1 << 20
# Each child on its way needs a descriptor here.
MAX_STARTING = 64
SLOW_S = 1.0


class Batch:
    """One request whose tasks are being started."""

    def __init__(self, request: SpawnRequest) -> None:
        self.number = request["id"]
        self.env = request["env"]
        self.tasks = request["tasks"]
        self.n_forked = 0
        self.answers: dict[int, Answer] = {}
        self.n_waiting = len(self.tasks)

    @property
    def has_more(self) -> bool:
        return self.n_forked < len(self.tasks)

    def in_order(self) -> list[Answer]:
        return [self.answers[position] for position in range(len(self.tasks))]

    def give_up(self, error: NotStarted) -> None:
        """Answer for the tasks that have not been tried yet, which would fare no better."""
        for position in range(self.n_forked, len(self.tasks)):
            self.answers[position] = error
        self.n_waiting -= len(self.tasks) - self.n_forked
        self.n_forked = len(self.tasks)


class Child:
    """One task on its way, and what it has told so far."""

    def __init__(self, batch: Batch, position: int, pid: int) -> None:
        self.batch = batch
        self.position = position
        self.pid = pid
        self.began_at = time.monotonic()
        self.unread = b""
        self.told: Answer | None = None

    @property
    def task(self) -> TaskOrder:
        return self.batch.tasks[self.position]

    @property
    def mounts(self) -> list[tuple[str, str, str, bool]]:
        view = self.task["view"]
        return view["mounts"] if view is not None and "mounts" in view else []

    @property
    def is_slow(self) -> bool:
        return time.monotonic() - self.began_at > SLOW_S

    def is_overdue(self, mounted_within_s: float) -> bool:
        return bool(self.mounts) and time.monotonic() - self.began_at > mounted_within_s

    def hear(self, data: bytes) -> None:
        *lines, self.unread = (self.unread + data).split(b"\n")
        for line in lines:
            self.note(json.loads(line))

    def note(self, said: News) -> None:
        if "child" in said:
            # It goes on as another process, which is the one to be ended if need be.
            self.pid = said["child"]
        else:
            self.told = said

    def answer(self, mounted_within_s: float) -> Answer:
        if self.told is not None:
            return self.told
        # Killed on its way; once published, the task has begun and ended like any other.
        if os.path.exists(self.task["folder"] + "/pid"):
            return {"exists": True}
        if not self.mounts or time.monotonic() - self.began_at < mounted_within_s:
            return {"error": {"code": "new_process_killed", "params": {}}}
        what = [{"code": "mount_at", "params": {"source": one[0], "target": one[2]}} for one in self.mounts]
        params = {"mounts": what, "within_s": mounted_within_s}
        return {"error": {"code": "mount_too_slow", "params": params}, "is_stuck": True}


class Spawner:
    """Reads requests, forks, and answers when the children have become their tasks."""

    def __init__(self, requests_fd: int, ground: Ground) -> None:
        self.requests_fd = requests_fd
        self.ground = ground
        self.unread = b""
        self.unfinished: list[Batch] = []
        self.starting: dict[int, Child] = {}
        self.poll = select.poll()
        self.poll.register(requests_fd, select.POLLIN)

    def serve(self) -> None:
        while True:
            # Children become slow without a word.
            ready = [fd for fd, _ in self.poll.poll(SLOW_S * 1000 if self.starting else None)]
            self.collect_from(ready)
            self.end_overdue()
            if self.requests_fd in ready and not self.receive():
                return
            self.start_more()

    def receive(self) -> bool:
        """Read what has come; False when the server has gone."""
        data = os.read(self.requests_fd, CHUNK_BYTES)
        *lines, self.unread = (self.unread + data).split(b"\n")
        for line in lines:
            self.take(json.loads(line))
        return bool(data)

    def take(self, request: SpawnRequest | Ping) -> None:
        if "ping" in request:
            tell(self.requests_fd, {"id": request["id"], "tasks": []})
        else:
            self.unfinished.append(Batch(request))

    def start_more(self) -> None:
        for batch in self.unfinished:
            while batch.has_more and self.has_room_for(batch):
                self.start(batch, batch.n_forked)
        self.unfinished = [batch for batch in self.unfinished if batch.has_more]

    def has_room_for(self, batch: Batch) -> bool:
        """Tell whether a task may be started; one that is slow keeps its own batch waiting, and no other."""
        if len(self.starting) < MAX_STARTING:
            return True
        slow = [child for child in self.starting.values() if child.is_slow]
        n_quick = len(self.starting) - len(slow)
        return n_quick < MAX_STARTING and all(child.batch is not batch for child in slow)

    def start(self, batch: Batch, position: int) -> None:
        batch.n_forked += 1
        pid, news_fd = self.begin(batch, batch.tasks[position])
        self.starting[news_fd] = Child(batch, position, pid)
        self.poll.register(news_fd, select.POLLIN)

    def begin(self, batch: Batch, task: TaskOrder) -> tuple[int, int]:
        """Start a process that becomes the task; its news come through a pipe that closes on exec."""
        pid = 0
        news_fd, child_fd = os.pipe()
        try:
            task["filter"] = self.ground.filter
            if self.ground.people is not None and task["account"] is not None:
                task["people_fd"] = self.ground.people.namespace_of(task["account"])
            if inplace.can_start(task, len(batch.tasks), self.ground):
                pid = inplace.start(task, batch.env, self.ground, child_fd)
            else:
                pid = self.fork(batch, task, child_fd)
        except Exception as error:  # noqa: BLE001  # whatever a task is like, the next one is to be started
            tell(child_fd, failure(error))
        os.close(child_fd)
        return pid, news_fd

    def fork(self, batch: Batch, task: TaskOrder, child_fd: int) -> int:
        pid = self.ground.fork(task)
        if pid == 0:
            become(task, batch.env, self.ground, child_fd)
        return pid

    def end_overdue(self) -> None:
        """End children whose mounts take too long; the kernel can do so even while they wait for them."""
        for child in self.starting.values():
            if child.is_slow and child.is_overdue(self.ground.mounted_within_s):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child.pid, signal.SIGKILL)

    def collect_from(self, ready: list[int]) -> None:
        for fd in ready:
            if fd in self.starting:
                self.collect(fd)

    def collect(self, news_fd: int) -> None:
        child = self.starting[news_fd]
        data = os.read(news_fd, CHUNK_BYTES)
        if data:
            child.hear(data)
            return
        self.poll.unregister(news_fd)
        os.close(news_fd)
        del self.starting[news_fd]
        self.settle(child)

    def settle(self, child: Child) -> None:
        """Note what became of a child, and answer when it was the last of its batch."""
        batch = child.batch
        answer = batch.answers[child.position] = child.answer(self.ground.mounted_within_s)
        batch.n_waiting -= 1
        if child.told is None:
            self.ground.remove_groups_of(child.task, child.pid)
        if "error" in answer and "is_stuck" in answer:
            batch.give_up(answer)
        if not batch.n_waiting:
            tell(self.requests_fd, {"id": batch.number, "tasks": batch.in_order()})


def reset_signals() -> None:
    """Forget what the server ignores or blocks, so that tasks begin with the defaults."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    # Children are reaped by the kernel; a server that went away is seen as an end of input.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def main() -> None:
    reset_signals()
    ground = Ground(json.loads(sys.argv[1]))
    # The collector would write to pages that children share.
    gc.disable()
    gc.freeze()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        Spawner(0, ground).serve()
