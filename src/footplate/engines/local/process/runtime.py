"""Tasks as processes: started by the spawner, each behind its shim."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from footplate.domain.errors import OutcomeUnknown
from footplate.engines.base import Stream
from footplate.engines.local import request as requests
from footplate.engines.local.confine.confinement import Confinement
from footplate.engines.local.exchange import (
    Answer,
    Ground,
    LocalRequest,
    LocalTask,
    ProcessRequest,
    ProcessTask,
    SpawnOrder,
)
from footplate.engines.local.observe.records import Exit, Identity, read_claim, read_exit
from footplate.engines.local.observe.task import LEFTOVERS_S, Observed, observe_task
from footplate.engines.local.observe.watches import TaskKey, Watch
from footplate.engines.local.process import native
from footplate.engines.local.process.ending import kill_until
from footplate.engines.local.process.ends import Ends
from footplate.engines.local.process.errand import run_errand
from footplate.engines.local.process.exec import commands_in, end_command, start_command
from footplate.engines.local.process.leftovers import Leftovers
from footplate.engines.local.process.processes import (
    ask_to_end,
    environment_of,
    is_foreign,
    kill_marked,
    kill_tree,
    send,
)
from footplate.engines.local.process.spawner_client import SpawnerClient, SpawnerGone

SPAWN_TIMEOUT_S = 60
SPAWN_TRIES = 3
SPARE_SHIM_S = 5


class ProcessRuntime:
    """Runs each task as its own session; everything it knows is in the task's folder."""

    def __init__(
        self,
        confinement: Confinement,
        on_end: Callable[[Identity], bool],
        mounted_within_s: float = 30.0,
        is_native: bool = True,
    ) -> None:
        """`on_end` hears of ends before the kernel tells of them, and returns whether it knew the task."""
        self._program = requests.task_program()
        self._ends = Ends(on_end)
        ground: Ground = {
            **confinement.ground(mounted_within_s),
            "native": native.find(is_native),
            "ends_fd": self._ends.lent_fd,
        }
        self._spawner = SpawnerClient(ground)
        # Whatever hangs has ended by then.
        self._spawn_timeout_s = SPAWN_TIMEOUT_S + mounted_within_s
        self._confinement = confinement
        self._leftovers = Leftovers(confinement.trees, self._spawn_timeout_s)
        self._leftovers.hold_place()
        # Commands that run in tasks now.
        self._commands: set[Identity] = set()

    async def start(self, request: ProcessRequest, tasks: Sequence[ProcessTask]) -> Sequence[Answer]:
        self._ends.listen()
        orders = [requests.spawn_order(request, task, self._program, self._confinement) for task in tasks]
        answers = await self._spawn(request["env"], orders)
        if request["mounts"] and any("error" in answer for answer in answers):
            # Where mounts of the host do not reach other namespaces, it may see what is no longer there.
            self._spawner.renew()
        return answers

    async def _spawn(self, env: Mapping[str, str], orders: Sequence[SpawnOrder]) -> Sequence[Answer]:
        for _ in range(SPAWN_TRIES):
            try:
                async with asyncio.timeout(self._spawn_timeout_s):
                    return await self._spawner.start(env, orders)
            except SpawnerGone:
                # A task that was started before the spawner died refuses to be started again.
                continue
            except TimeoutError:
                break
        raise OutcomeUnknown("spawner_silent")

    async def run(self, request: ProcessRequest, task: ProcessTask, is_closing: asyncio.Event) -> Exit | None:
        """Run a command of the platform's own, confined as a task is, and wait for its end."""
        start = partial(self.start, request, [task])
        return await run_errand(start, self._end_errand, Path(task["folder"]), self._commands, is_closing)

    async def _end_errand(self, identity: Identity, ended: asyncio.Event) -> None:
        await kill_until(ended, identity.pid)
        self.release(identity)

    @contextlib.asynccontextmanager
    async def exec(
        self,
        request: LocalRequest,
        task: LocalTask,
        argv: Sequence[str],
        terminal: tuple[int, int] | None,
        entering: AbstractContextManager[None],
        errors_apart: bool = False,
    ) -> AsyncIterator[Stream]:
        """Run a command where a task runs or ran; `entering` lasts until it has begun."""
        with entering:
            command = await start_command(
                self._spawn, self._confinement, request, task, argv, terminal, errors_apart
            )
        with self._holding(command.identity):
            try:
                yield command
            finally:
                await asyncio.shield(command.close())

    @contextlib.contextmanager
    def _holding(self, identity: Identity) -> Iterator[None]:
        self._commands.add(identity)
        try:
            yield
        finally:
            self._commands.discard(identity)
            self.release(identity)

    async def ask_to_end(self, watches: Collection[Watch]) -> set[Watch]:
        return await asyncio.to_thread(_ask, watches)

    async def kill(self, watches: Collection[Watch], for_s: float) -> None:
        await asyncio.to_thread(self._kill, watches, for_s > SPARE_SHIM_S)

    async def observe(self, tasks: Mapping[TaskKey, Path]) -> Mapping[TaskKey, Observed]:
        return await asyncio.to_thread(self._observe_tasks, tasks)

    async def clear(self, tasks: Mapping[TaskKey, Path]) -> Collection[TaskKey]:
        return await asyncio.to_thread(self._clear, tasks)

    def is_over(self, identity: Identity) -> bool:
        """Tell whether a task whose start is heard of just now has ended already; asked once for each."""
        return self._ends.is_over(identity)

    def release(self, identity: Identity) -> None:
        """Give back what held a task that has ended; soon, together with that of others."""
        self._leftovers.add(identity)

    def conclude(self, identity: Identity, is_wanted: bool) -> str:
        """Give the groups of an ended task back; return what they counted, where that is wanted."""
        tree = self._confinement.tree
        counted = tree.counted(f"{identity.pid}-{identity.start_ticks}") if tree and is_wanted else ""
        self.release(identity)
        return counted

    async def sweep(self, running: Collection[Identity]) -> None:
        """Give back what held tasks that ended while nobody looked; end what runs on after its task's end."""
        await asyncio.to_thread(self._leftovers.sweep, {*running, *self._commands})

    async def close(self) -> None:
        await self._spawner.close_all()
        self._ends.close()
        await asyncio.to_thread(self._leftovers.close)

    def _kill(self, watches: Collection[Watch], shims_too: bool) -> None:
        for watch in watches:
            kill_tree(watch.identity.pid)
            self._leftovers.kill(watch.identity)
            if shims_too:
                send(watch.identity.pid, signal.SIGKILL)

    def _observe_tasks(self, tasks: Mapping[TaskKey, Path]) -> dict[TaskKey, Observed]:
        return {
            key: observe_task(folder, key.marks, self._leftovers.end, self.conclude)
            for key, folder in tasks.items()
        }

    def _clear(self, tasks: Mapping[TaskKey, Path]) -> list[TaskKey]:
        """End what tasks left behind, also those whose shims are gone too."""
        left = []
        for key, folder in tasks.items():
            claim = read_claim(folder)
            if claim is None or claim.identity is None:
                continue
            is_clear = self._end_group(claim.identity, key.marks)
            is_clear = self._end_commands(folder, key.marks) and is_clear
            if read_exit(folder) is None:
                is_clear = kill_marked(key.marks, LEFTOVERS_S) and is_clear
            if not is_clear:
                left.append(key)
        return left

    def _end_group(self, identity: Identity, marks: Collection[str]) -> bool:
        """End what is left in a task's groups; a claim that names somebody else's process says nothing."""
        return is_foreign(identity, marks) or self._leftovers.end(identity, LEFTOVERS_S)

    def _end_commands(self, folder: Path, marks: Collection[str]) -> bool:
        """End what still runs inside a task; False when some of it resists."""
        wanted = {mark.encode() for mark in marks}
        # Tasks can write such records too: only what carries the task's own marks is ended.
        ours = [one for one in commands_in(folder) if wanted <= environment_of(one.pid)]
        # Where the task ended before, they are in groups of their own.
        return all(self._leftovers.end(one, LEFTOVERS_S) and end_command(one, LEFTOVERS_S) for one in ours)


def _ask(watches: Collection[Watch]) -> set[Watch]:
    return {watch for watch in watches if not ask_to_end(watch.identity.pid)}
