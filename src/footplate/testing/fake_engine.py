"""A fake engine in memory; `misbehaving` has kin of it that do not behave.

The files of its tasks are not in any server's home: it stands for an engine on other machines.

What a task does follows from its command: `true`, `false` and `exit N` end at once, `sleep S` ends when
the clock has moved on by S seconds, anything else runs until `finish` is called. The last line counts.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Container, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TypedDict, cast

from footplate.domain.attempt import Attempt, TaskRun
from footplate.domain.clock import Clock
from footplate.domain.cluster import Node, TaskPlacement, Whereabouts
from footplate.domain.errors import (
    EngineRejected,
    NotFound,
    Problem,
    problem,
)
from footplate.domain.messages import Message, say
from footplate.domain.resources import GIB
from footplate.domain.spec import JobSpec
from footplate.domain.states import TaskState
from footplate.engines.base import (
    Capabilities,
    FindStorage,
    LaunchPlan,
    Notice,
    Observation,
    Request,
    Stream,
    TaskPaths,
)
from footplate.engines.strategies import prepare
from footplate.engines.usage import NodeUsage, Usage
from footplate.testing.fake_clock import FakeClock
from footplate.testing.task_environments import paths_of

STOPPED_BY_TERM = 143
DEFAULT_NODE = Node("fake", milli_cpus=8000, memory_bytes=16 * GIB)

TaskKey = tuple[str, str, int]


class FakeTask(TypedDict):
    role: str
    index: int
    run: int
    command: str
    env: dict[str, str]
    gpus: list[int]
    # What it asks for: milli CPUs, bytes of memory, cards.
    needs: list[int]


class FakeRequest(TypedDict):
    attempt_id: str
    tasks: list[FakeTask]
    # What is brought for all tasks: storages and paths on them.
    staged: list[tuple[str, str]]


PROCESS_GONE = say("process_gone")


@dataclass(frozen=True)
class FakePlace:
    """What a task was given by an engine that places by itself."""

    where: Whereabouts
    needs: tuple[int, int, int]


@dataclass
class FakeWorld:
    """What goes on whether or not an engine looks: the tasks, and which attempts may no longer start."""

    tasks: dict[TaskKey, Observation] = field(default_factory=dict)
    ends: dict[TaskKey, tuple[float, int]] = field(default_factory=dict)
    requests: dict[str, FakeRequest] = field(default_factory=dict)
    fenced: set[tuple[TaskKey, int]] = field(default_factory=set)
    n_starts: int = 0
    # What was brought of storages: for which attempt, of which storage, what.
    staged: list[tuple[str, str, str]] = field(default_factory=list)
    notices: dict[TaskKey, Notice] = field(default_factory=dict)
    # What each run of a task has printed.
    logs: dict[tuple[TaskKey, int], bytes] = field(default_factory=dict)
    # Tasks that use no CPU; the others use all of one.
    idle: set[TaskKey] = field(default_factory=set)
    # Where an engine that places by itself has put tasks, and what waits in its own queue.
    places: dict[TaskKey, FakePlace] = field(default_factory=dict)
    line: dict[str, FakeRequest] = field(default_factory=dict)


class Echo:
    """A stream that says something, and then all that it is sent."""

    def __init__(self, first: bytes, code: int = 0) -> None:
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._chunks.put_nowait(first)
        self._code = code

    async def read(self) -> bytes:
        return await self._chunks.get()

    async def read_errors(self) -> bytes:
        return b""

    async def write(self, data: bytes) -> None:
        self._chunks.put_nowait(data)

    async def end_input(self) -> None:
        self._chunks.put_nowait(b"")

    async def resize(self, rows: int, columns: int) -> None:
        self._chunks.put_nowait(f"{rows} rows of {columns}\n".encode())

    async def wait(self) -> int:
        return self._code


class FakeTasks:
    """The tasks of a fake engine, wherever they are placed.

    Engines made with the same world are one engine after a restart.
    """

    capabilities = Capabilities(streams=True, stages=True, views=True)

    def __init__(
        self,
        clock: Clock | None = None,
        nodes: Iterable[Node] = (DEFAULT_NODE,),
        world: FakeWorld | None = None,
    ) -> None:
        self.clock = clock or FakeClock()
        self.world = world or FakeWorld()
        self.available = list(nodes)
        self._listeners: list[Callable[[str], None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._awaiting: set[asyncio.Event] = set()
        self._find_storage: FindStorage | None = None

    def compile(self, plan: LaunchPlan) -> FakeRequest:
        prepared = prepare(plan, self.paths)
        shared = {**prepared.gang_env, **plan.secrets}
        tasks: list[FakeTask] = [
            {
                "role": task.role,
                "index": task.index,
                "run": plan.runs.get((task.role, task.index), 0),
                "command": prepared.command(task.role, task.index),
                "env": {**shared, **prepared.own_env(task, rank)},
                "gpus": list(task.gpus),
                "needs": [task.resources.milli_cpus, task.resources.memory_bytes, task.resources.gpus],
            }
            for rank, task in enumerate(prepared.tasks)
        ]
        staged = [(volume.storage, volume.inner) for volume in plan.volumes if volume.staged]
        return {"attempt_id": plan.attempt_id, "tasks": tasks, "staged": staged}

    def use_storages(self, find: FindStorage) -> None:
        self._find_storage = find

    async def sweep_staged(self, known_attempts: Container[str]) -> None:
        """Keep all that was brought."""

    async def _stage(self, request: FakeRequest) -> None:
        for storage, inner in request["staged"]:
            assert self._find_storage is not None
            _, files = await self._find_storage(request["attempt_id"], storage)
            try:
                entry = await asyncio.to_thread(files.stat, inner)
            except FileNotFoundError:
                raise EngineRejected("storage_has_no", storage=storage, inner=inner) from None
            self.world.staged.append((request["attempt_id"], storage, entry.path))

    def paths(self, plan: LaunchPlan, task: TaskPlacement) -> TaskPaths:
        return paths_of(plan, task)

    def refuses(self, spec: JobSpec, environments: Mapping[str, str]) -> Problem | None:
        is_missing = spec.image == "missing" and spec.image not in environments
        return problem("image", "image_unknown", image=spec.image) if is_missing else None

    async def launch(self, request: Request) -> None:
        self._loop = asyncio.get_running_loop()
        asked = cast("FakeRequest", request)
        attempt_id = asked["attempt_id"]
        self.world.requests.setdefault(attempt_id, asked)
        await self._stage(asked)
        for task in asked["tasks"]:
            key, run = (attempt_id, task["role"], task["index"]), task["run"]
            known = self.world.tasks.get(key)
            if (known is None or known.run < run) and (key, run) not in self.world.fenced:
                self._start(key, run, task["command"])

    async def observe(self, attempts: Sequence[Attempt]) -> Sequence[Observation]:
        self._loop = asyncio.get_running_loop()
        self._let_time_pass()
        return [self._see(key, run) for attempt in attempts for key, run in _runs(attempt)]

    async def stop(self, attempt: Attempt, grace_s: float, notice: Notice | None = None) -> None:  # noqa: ARG002  # obeys at once
        self._let_time_pass()
        for key, run in _runs(attempt):
            self.world.fenced.add((key, run))
            task = self._see(key, run)
            if notice is not None and task.state is TaskState.RUNNING:
                self.world.notices[key] = notice
            if task.state is TaskState.WAITING:
                task = replace(task, detail=say("stopped_before_start"))
            if not task.state.is_over:
                self._end(task, STOPPED_BY_TERM)

    async def usage(self, attempts: Sequence[Attempt]) -> Sequence[Usage]:
        now, busy_s = self.clock.now(), self.clock.elapsed()
        return [
            Usage(*key, run, now, 0 if key in self.world.idle else busy_s, 2**20)
            for attempt in attempts
            for key, run in _runs(attempt)
            if self._see(key, run).state is TaskState.RUNNING
        ]

    async def stacks(self, attempt: Attempt) -> Mapping[str, str]:
        return {f"{role}-{index}": "MainThread: waiting" for (_, role, index), _ in _runs(attempt)}

    async def follow(self, attempt: Attempt, task: TaskRun, offset: int) -> AsyncIterator[bytes]:
        key = (attempt.id, task.role, task.index)
        grown = asyncio.Event()
        self._awaiting.add(grown)
        try:
            while True:
                grown.clear()
                is_over = self._see(key, task.run).state.is_over
                if data := self.world.logs.get((key, task.run), b"")[offset:]:
                    offset += len(data)
                    yield data
                elif is_over:
                    return
                else:
                    await grown.wait()
        finally:
            self._awaiting.discard(grown)

    def say(self, attempt_id: str, data: bytes, role: str = "main", index: int = 0) -> None:
        """Let a running task print something; may be called from any thread."""
        key = (attempt_id, role, index)
        place = (key, self.world.tasks[key].run)
        self.world.logs[place] = self.world.logs.get(place, b"") + data
        self._wake()

    def _wake(self) -> None:
        if self._loop is not None:
            for event in list(self._awaiting):
                self._loop.call_soon_threadsafe(event.set)

    def exec(
        self,
        request: Request,
        role: str,
        index: int,
        argv: Sequence[str],
        terminal: tuple[int, int] | None = None,
        errors_apart: bool = False,  # noqa: ARG002  # there are none
    ) -> AbstractAsyncContextManager[Stream]:
        """Echo the command, then what it is sent; `false` fails."""
        if (request["attempt_id"], role, index) not in self.world.tasks:
            raise NotFound("task_not_started", task=f"{role}-{index}")
        shown = f"{role}-{index}: {' '.join(argv)}\n" + (f"terminal {terminal}\n" if terminal else "")
        return nullcontext(Echo(shown.encode(), int(argv[0] == "false")))

    def connect(self, attempt: Attempt, task: TaskRun, port: int) -> AbstractAsyncContextManager[Stream]:
        """Echo what is sent to any port."""
        return nullcontext(Echo(f"{attempt.id} {task.name} port {port}\n".encode()))

    def on_change(self, tell: Callable[[str], None]) -> None:
        self._listeners.append(tell)

    async def close(self) -> None:
        self._listeners.clear()

    def finish(self, attempt_id: str, role: str = "main", index: int = 0, code: int = 0) -> None:
        """End one running task; may be called from any thread."""
        self._end(self.world.tasks[attempt_id, role, index], code)

    def lose(
        self, attempt_id: str, role: str = "main", index: int = 0, detail: Message = PROCESS_GONE
    ) -> None:
        """Let one running task vanish without a trace."""
        task = self.world.tasks[attempt_id, role, index]
        self._record(replace(task, state=TaskState.LOST, detail=detail))

    def running(self) -> list[TaskKey]:
        """List the tasks that run, in the order of their start."""
        self._let_time_pass()
        return [key for key, task in self.world.tasks.items() if task.state is TaskState.RUNNING]

    def _start(self, key: TaskKey, run: int, command: str) -> None:
        self.world.n_starts += 1
        self._record(Observation(*key, TaskState.RUNNING, started_at=self.clock.now(), run=run))
        after_s, code = _script(command)
        if after_s is not None:
            self.world.ends[key] = (self.clock.now() + after_s, code)

    def _let_time_pass(self) -> None:
        for key, (at, code) in list(self.world.ends.items()):
            if at <= self.clock.now():
                self._end(self.world.tasks[key], code, at)

    def _end(self, task: Observation, code: int, at: float | None = None) -> None:
        if task.state.is_over:
            raise ValueError(f"{task} is over already")
        finished_at = self.clock.now() if at is None else at
        self._record(replace(task, state=TaskState.EXITED, exit_code=code, finished_at=finished_at))

    def _record(self, task: Observation) -> None:
        key = (task.attempt_id, task.role, task.index)
        self.world.tasks[key] = task
        if task.state.is_over:
            self.world.ends.pop(key, None)
        self._hint(task.attempt_id)

    def _hint(self, attempt_id: str) -> None:
        self._wake()
        for tell in self._listeners:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(tell, attempt_id)

    def _see(self, key: TaskKey, run: int) -> Observation:
        known = self.world.tasks.get(key)
        return known if known and known.run == run else Observation(*key, TaskState.WAITING, run=run)


class FakeEngine(FakeTasks):
    """Behaves, and offers nodes."""

    async def nodes(self) -> Sequence[Node]:
        return list(self.available)

    async def node_usage(self) -> Sequence[NodeUsage]:
        # One CPU is busy all the time. Read once: tests let time pass from another thread.
        now = self.clock.now()
        return [NodeUsage(node.name, now, cpu_s=now, memory_bytes=2**30) for node in self.available]


def _runs(attempt: Attempt) -> list[tuple[TaskKey, int]]:
    return [((attempt.id, task.role, task.index), task.run) for task in attempt.tasks]


def _script(command: str) -> tuple[float | None, int]:
    """Read from a command after how many seconds it ends, if ever, and with which code."""
    last = command.strip().splitlines()[-1].strip()
    if last in ("true", "false"):
        return 0, int(last == "false")
    if found := re.fullmatch(r"exit (\d+)", last):
        return 0, int(found[1])
    if found := re.fullmatch(r"sleep (\d+(?:\.\d+)?)", last):
        return float(found[1]), 0
    return None, 0
