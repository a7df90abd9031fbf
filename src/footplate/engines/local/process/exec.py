"""Runs a command in the environment of a task (`exec`), as a small task within the limits of that task."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from footplate.domain.errors import Conflict, EngineUnavailable, NotFound
from footplate.engines.local import request as requests
from footplate.engines.local.confine.confinement import Confinement
from footplate.engines.local.exchange import Answer, CommandOrder, LocalRequest, LocalTask, SpawnOrder
from footplate.engines.local.observe.records import STOPPED_BY_KILL, Identity, read_claim, read_exit
from footplate.engines.local.observe.watches import TaskKey
from footplate.engines.local.process.ending import kill_until, watching
from footplate.engines.local.process.pipes import Pipes
from footplate.engines.local.process.processes import (
    KILL_EVERY_S,
    boot_id,
    environment_of,
    kill_tree,
    open_process,
)

PREFIX = "exec-"

Spawn = Callable[[Mapping[str, str], Sequence[SpawnOrder]], Awaitable[Sequence[Answer]]]


class Command:
    """One command that was started inside a task, as a stream; its folder holds its records."""

    def __init__(self, identity: Identity, folder: Path, pipes: Pipes) -> None:
        self.identity = identity
        self.read = pipes.read
        self.read_errors = pipes.read_errors
        self.write = pipes.write
        self.end_input = pipes.end_input
        self._folder = folder
        self._pipes = pipes

    async def resize(self, rows: int, columns: int) -> None:
        self._pipes.resize(rows, columns)

    async def wait(self) -> int:
        async with watching(self.identity) as ended:
            await ended.wait()
        end = await asyncio.to_thread(read_exit, self._folder)
        # Without a record it ended with its task.
        return end.code if end else STOPPED_BY_KILL

    async def close(self) -> None:
        """End what still runs of it, and remove its folder."""
        self._pipes.close()
        async with watching(self.identity) as ended:
            await kill_until(ended, self.identity.pid)
        await asyncio.to_thread(_remove, self._folder)


async def start_command(
    spawn: Spawn,
    confinement: Confinement,
    request: LocalRequest,
    task: LocalTask,
    argv: Sequence[str],
    terminal: tuple[int, int] | None,
    errors_apart: bool = False,
) -> Command:
    """Start a command in a task's variables, folder, view and groups."""
    order = await asyncio.to_thread(_order, request, task, argv, confinement)
    folder = Path(order["folder"])
    pipes = await asyncio.to_thread(_make_pipes, folder, terminal, errors_apart)
    try:
        command: CommandOrder = {**order, "streams": pipes.names}
        (answer,) = await spawn(request["env"], [command])
        identity = _started(answer)
        pipes.let_go()
    except BaseException:
        pipes.close()
        await asyncio.to_thread(_remove, folder)
        raise
    return Command(identity, folder, pipes)


def _make_pipes(folder: Path, terminal: tuple[int, int] | None, errors_apart: bool) -> Pipes:
    try:
        return Pipes(folder, terminal, errors_apart)
    except OSError as error:
        raise EngineUnavailable("command_not_started", error=str(error)) from error


def _started(answer: Answer) -> Identity:
    if "pid" not in answer:
        raise EngineUnavailable("command_not_started", error=str(answer.get("error", answer)))
    return Identity(answer["pid"], answer["start_ticks"], boot_id())


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def commands_in(task_folder: Path) -> list[Identity]:
    """Name the commands that were started inside a task and have not been seen to end."""
    claims = (read_claim(folder) for folder in task_folder.glob(f"{PREFIX}*"))
    return [claim.identity for claim in claims if claim is not None and claim.identity is not None]


def end_command(command: Identity, for_s: float) -> bool:
    """Kill all of a command until its shim has recorded its end; False when it resists."""
    gives_up_at = time.monotonic() + for_s
    while (pidfd := open_process(command)) is not None:
        os.close(pidfd)
        if time.monotonic() > gives_up_at:
            return False
        kill_tree(command.pid)
        time.sleep(KILL_EVERY_S)
    return True


def _order(
    request: LocalRequest, task: LocalTask, argv: Sequence[str], confinement: Confinement
) -> SpawnOrder:
    claim = read_claim(Path(task["folder"]))
    if claim is None or claim.identity is None:
        raise NotFound("task_not_started", task=f"{task['role']}-{task['index']}")
    folder = f"{task['folder']}/{PREFIX}{uuid.uuid4().hex[:12]}"
    order = requests.spawn_order(request, task, (), confinement)
    pidfd = open_process(claim.identity)
    if pidfd is None:
        _require_kept(task)
    else:
        os.close(pidfd)
        key = TaskKey(request["attempt_id"], task["role"], task["index"], home_id=request["home_id"])
        # Nobody enters another's groups and files because a task has put another's name into its claim.
        if not {mark.encode() for mark in key.marks} <= environment_of(claim.identity.pid):
            raise EngineUnavailable("task_record_foreign", task=f"{task['role']}-{task['index']}")
        _join(order, claim.identity)
    return {
        **order,
        "folder": folder,
        "folders": [folder, *order["folders"]],
        "argv": list(argv),
    }


def _require_kept(task: LocalTask) -> None:
    """Let nobody into what is left of a task that is not kept: its place may be another's by now."""
    ended = read_exit(Path(task["folder"]))
    if not task["keep"] or (ended is not None and ended.code == 0):
        raise Conflict("task_ended", task=f"{task['role']}-{task['index']}")


def _join(order: SpawnOrder, identity: Identity) -> None:
    """Enter what a running task has instead of the same made anew: its limits hold for both together."""
    order["joins"] = f"{identity.pid}-{identity.start_ticks}"
    order["groups"] = [[place, []] for place, _ in order["groups"]]
    order["counters"] = []
    order["view"] = None if order["view"] is None else {"of": identity.pid}
