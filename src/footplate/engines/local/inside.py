"""Runs a command in the environment of a task (`exec`), as a small task within the limits of that task."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from footplate.domain.errors import Conflict, EngineUnavailable, NotFound
from footplate.engines.base import Ran, Request
from footplate.engines.local import request as requests
from footplate.engines.local.confinement import Confinement
from footplate.engines.local.processes import KILL_EVERY_S, boot_id, environment_of, kill_tree, open_process
from footplate.engines.local.records import STOPPED_BY_KILL, Identity, read_claim, read_exit
from footplate.engines.local.runtime import Answer
from footplate.engines.local.watching import TaskKey
from footplate.taskfiles import unfollowed

TIMED_OUT = 124
PREFIX = "inside-"
LOOK_EVERY_S = 0.5
# A command that writes more than anybody reads is ended before it fills the disk.
MOST_ON_DISK_BYTES = 256 * 1024**2

Spawn = Callable[[Mapping[str, str], Sequence[Mapping[str, Any]]], Awaitable[Sequence[Answer]]]


@dataclass(frozen=True, slots=True)
class Command:
    """One command that was started inside a task, and the folder of its records and output."""

    identity: Identity
    folder: Path


async def begin(
    spawn: Spawn,
    confinement: Confinement,
    request: Request,
    task: Mapping[str, Any],
    argv: Sequence[str],
) -> Command:
    """Start a command in a task's variables, folder, view and groups."""
    order = await asyncio.to_thread(_order, request, task, argv, confinement)
    folder = Path(order["folder"])
    try:
        (answer,) = await spawn(request["env"], [order])
        return Command(_started(answer), folder)
    except BaseException:
        await asyncio.to_thread(_remove, folder)
        raise


def _started(answer: Answer) -> Identity:
    if "pid" not in answer:
        raise EngineUnavailable("command_not_started", error=str(answer.get("error", answer)))
    return Identity(answer["pid"], answer["start_ticks"], boot_id())


async def finish(command: Command, timeout_s: float, most_bytes: int) -> Ran:
    """Gather what a command writes until it ends; one that takes too long is ended."""
    log = command.folder / "log"
    try:
        in_time = await _wait(command.identity, log, timeout_s)
        output, is_cut = await asyncio.to_thread(_read, log, most_bytes)
        end = read_exit(command.folder)
        timed_out = not in_time and _size_bytes(log) <= MOST_ON_DISK_BYTES
        # Without a record it ended with its task.
        code = end.code if end else STOPPED_BY_KILL
        return Ran(code if in_time else TIMED_OUT, output, is_cut, timed_out)
    finally:
        await asyncio.to_thread(_remove, command.folder)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def commands_in(task_folder: Path) -> list[Identity]:
    """Name the commands that were started inside a task and have not been seen to end."""
    claims = (read_claim(folder) for folder in task_folder.glob(f"{PREFIX}*"))
    return [claim.identity for claim in claims if claim is not None and claim.identity is not None]


def end(command: Identity, for_s: float) -> bool:
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
    request: Request, task: Mapping[str, Any], argv: Sequence[str], confinement: Confinement
) -> dict[str, Any]:
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
        order |= _join(order, claim.identity)
    return {
        **order,
        "folder": folder,
        "folders": [folder, *order["folders"]],
        "log": f"{folder}/log",
        "argv": list(argv),
    }


def _require_kept(task: Mapping[str, Any]) -> None:
    """Let nobody into what is left of a task that is not kept: its place may be another's by now."""
    ended = read_exit(Path(task["folder"]))
    if not task["keep"] or (ended is not None and ended.code == 0):
        raise Conflict("task_ended", task=f"{task['role']}-{task['index']}")


def _join(order: Mapping[str, Any], identity: Identity) -> dict[str, Any]:
    """Enter what a running task has instead of the same made anew: its limits hold for both together."""
    return {
        "joins": f"{identity.pid}-{identity.start_ticks}",
        "groups": [[place, []] for place, _ in order["groups"]],
        "counters": [],
        "view": order["view"] and {"of": identity.pid},
    }


async def _wait(identity: Identity, log: Path, timeout_s: float) -> bool:
    """Wait for the end; False when it took too long or wrote too much, and was ended by force."""
    pidfd = open_process(identity)
    if pidfd is None:
        return True
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(pidfd, ended.set)
    try:
        return await _ends_by_itself(ended, log, timeout_s) or await _end(ended, identity.pid)
    finally:
        loop.remove_reader(pidfd)
        os.close(pidfd)


async def _ends_by_itself(ended: asyncio.Event, log: Path, timeout_s: float) -> bool:
    gives_up_at = time.monotonic() + timeout_s
    while not ended.is_set():
        left_s = gives_up_at - time.monotonic()
        if left_s <= 0 or _size_bytes(log) > MOST_ON_DISK_BYTES:
            return False
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), min(left_s, LOOK_EVERY_S))
    return True


async def _end(ended: asyncio.Event, shim: int) -> bool:
    while not ended.is_set():
        kill_tree(shim)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), KILL_EVERY_S)
    return False


def _size_bytes(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _read(log: Path, most_bytes: int) -> tuple[bytes, bool]:
    try:
        with open(log, "rb", opener=unfollowed) as file:  # only this one takes an opener
            output = file.read(most_bytes + 1)
    except OSError:
        return b"", False
    return output[:most_bytes], len(output) > most_bytes
