"""Shells in tasks: each survives a lost connection for a while, and tells again what was missed."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field

from footplate.domain.errors import Conflict, FootplateError, NotFound
from footplate.domain.job import Job
from footplate.engines.base import Stream
from footplate.services import audit
from footplate.services.access import Caller
from footplate.services.entering import enter
from footplate.services.platform import Platform

log = logging.getLogger(__name__)

# What somebody who comes back is told again.
KEPT_BYTES = 512 * 1024
CHUNK_BYTES = 64 * 1024
LINGERS_S = 300.0
IDLE_S = 8 * 3600.0
TIDY_EVERY_S = 5.0
MOST_OF_ONE_PERSON = 20
TERM = "xterm-256color"
# No login shell: that would set the variables of the task back to those of the machine.
PROGRAM = (
    "export TERM={term} COLORTERM=truecolor PS1='{task}:\\w\\$ '; "
    "command -v bash >/dev/null 2>&1 && exec bash -i; exec sh -i"
)


@dataclass(slots=True)
class _Pipe:
    """What a shell wrote, of which the end is kept; one follower at a time, who is waited for."""

    kept: bytearray = field(default_factory=bytearray)
    begins_at: int = 0
    told_to: int = 0
    follower: object | None = None
    is_over: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ends_at(self) -> int:
        return self.begins_at + len(self.kept)

    def wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    async def take(self, data: bytes) -> None:
        while self.follower is not None and self.ends_at - self.told_to > KEPT_BYTES // 2:
            await self.changed.wait()
        self.kept += data
        if (excess := len(self.kept) - KEPT_BYTES) > 0:
            del self.kept[:excess]
            self.begins_at += excess
        self.wake()

    async def follow(self, seen: int) -> AsyncIterator[bytes]:
        """Yield what comes behind an offset, to the end, or until somebody else follows."""
        self.follower = me = object()
        at = self.told_to = seen if self.begins_at <= seen <= self.ends_at else self.begins_at
        self.wake()
        try:
            while self.follower is me:
                if at < self.ends_at:
                    chunk = bytes(self.kept[at - self.begins_at :][:CHUNK_BYTES])
                    yield chunk
                    at += len(chunk)
                    if self.follower is me:
                        self.told_to = at
                        self.wake()
                elif self.is_over:
                    return
                else:
                    await self.changed.wait()
        finally:
            if self.follower is me:
                self.follower = None
                self.wake()


class Shell:
    """One shell, whether or not somebody is connected to it."""

    def __init__(self, caller: Caller, job: Job, task: str, now: float) -> None:
        self.id = secrets.token_hex(8)
        self.caller = caller
        self.job = job
        self.task = task
        self.started_at = self.used_at = now
        self.left_at: float | None = now
        self.exit_code: int | None = None
        self.running: asyncio.Task[None] | None = None
        self.stream: Stream | None = None
        self._pipe = _Pipe()

    @property
    def offset(self) -> int:
        """How many bytes it has written so far."""
        return self._pipe.ends_at

    async def pump(self, stream: Stream) -> None:
        """Take what it writes, to its end."""
        self.stream = stream
        while data := await stream.read():
            await self._pipe.take(data)
        self.exit_code = await stream.wait()

    def end(self) -> None:
        self.stream = None
        self._pipe.is_over = True
        self._pipe.wake()

    def follow(self, seen: int) -> AsyncIterator[bytes]:
        return self._pipe.follow(seen)

    def first_offset(self, seen: int) -> int:
        """Say from which offset on somebody is told who has seen that much."""
        return seen if self._pipe.begins_at <= seen <= self._pipe.ends_at else self._pipe.begins_at

    @property
    def is_attached(self) -> bool:
        return self._pipe.follower is not None

    async def write(self, data: bytes) -> None:
        if self.stream is not None:
            await self.stream.write(data)

    async def resize(self, rows: int, columns: int) -> None:
        if self.stream is not None:
            await self.stream.resize(rows, columns)


class Shells:
    """All shells of this server; they end with it."""

    def __init__(self, platform: Platform, idle_s: float = IDLE_S) -> None:
        self._platform = platform
        self._idle_s = idle_s
        self._shells: dict[str, Shell] = {}

    async def open(
        self, caller: Caller, id_or_name: str, task: str | None, terminal: tuple[int, int]
    ) -> Shell:
        """Start a shell in a task; its owner and admins may."""
        job, role, index = await enter(self._platform, caller, id_or_name, task, "shell")
        own = [one for one in self._shells.values() if one.caller.name == caller.name]
        if len(own) >= MOST_OF_ONE_PERSON:
            raise Conflict("too_many_shells", most=MOST_OF_ONE_PERSON)
        shell = Shell(caller, job, f"{role}-{index}", self._platform.clock.now())
        self._shells[shell.id] = shell
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        shell.running = asyncio.create_task(
            self._run(shell, role, index, terminal, begun), name=f"footplate-shell-{shell.id}"
        )
        await asyncio.shield(begun)
        return shell

    async def _run(
        self, shell: Shell, role: str, index: int, terminal: tuple[int, int], begun: asyncio.Future[None]
    ) -> None:
        argv = ("sh", "-c", PROGRAM.format(term=TERM, task=shell.task))
        has_begun = False
        try:
            async with self._platform.streams.run(shell.job, role, index, argv, terminal) as stream:
                has_begun = True
                await self._note_start(shell)
                begun.set_result(None)
                await shell.pump(stream)
        except FootplateError as error:
            if begun.done():
                log.warning("a shell in job %s broke: %s", shell.job.id, error)
            else:
                begun.set_exception(error)
        finally:
            shell.end()
            if not begun.done():
                begun.cancel()
            if has_begun:
                await asyncio.shield(self._note_end(shell))
            # Whoever is connected, or comes back in a moment, is told how it ended.
            shell.left_at = self._platform.clock.now()
            if not has_begun:
                self._shells.pop(shell.id, None)

    async def _note_start(self, shell: Shell) -> None:
        await audit.note(self._platform, shell.caller, "job.shell_opened", shell.job.id, **_told(shell))

    async def _note_end(self, shell: Shell) -> None:
        lasted_s = round(self._platform.clock.now() - shell.started_at)
        detail = {**_told(shell), "exit_code": shell.exit_code, "seconds": lasted_s}
        await audit.note(self._platform, shell.caller, "job.shell_closed", shell.job.id, **detail)

    def of(self, caller: Caller, job: Job) -> list[Shell]:
        """List one's own shells in a job that still run."""
        mine = (one for one in self._shells.values() if one.caller.name == caller.name)
        return [one for one in mine if one.job.id == job.id and one.stream is not None]

    async def find(self, caller: Caller, id_or_name: str, shell_id: str) -> Shell:
        """Find one's own shell; raise `NotFound` for one that is no longer there."""
        shell = self._shells.get(shell_id)
        if shell is None or shell.caller.name != caller.name:
            raise NotFound("shell_gone", shell=shell_id[:64])
        # Rights may have changed since.
        await enter_again(self._platform, caller, id_or_name, shell)
        return shell

    async def attached(self, shell: Shell, seen: int) -> AsyncGenerator[bytes]:
        """Yield what a shell writes for as long as somebody is connected to it."""
        shell.left_at = None
        try:
            async for chunk in shell.follow(seen):
                yield chunk
        finally:
            if not shell.is_attached:
                shell.left_at = self._platform.clock.now()

    async def write(self, shell: Shell, data: bytes) -> None:
        shell.used_at = self._platform.clock.now()
        await shell.write(data)

    async def end(self, shell: Shell) -> None:
        self._shells.pop(shell.id, None)
        if shell.running is not None:
            shell.running.cancel()
            await asyncio.gather(shell.running, return_exceptions=True)

    async def tidy(self) -> None:
        """End shells that nobody has used for long, or has come back to."""
        now = self._platform.clock.now()
        for shell in list(self._shells.values()):
            has_left = shell.left_at is not None and now - shell.left_at > LINGERS_S
            if has_left or now - shell.used_at > self._idle_s:
                await self.end(shell)

    async def close(self) -> None:
        await asyncio.gather(*(self.end(shell) for shell in list(self._shells.values())))


async def enter_again(platform: Platform, caller: Caller, id_or_name: str, shell: Shell) -> None:
    """Require that the caller may still step in, unless the shell is over and only its end is told."""
    if shell.exit_code is None:
        await enter(platform, caller, id_or_name, shell.task, "shell")


def _told(shell: Shell) -> dict[str, str]:
    return {"name": shell.job.spec.name, "owner": shell.job.owner, "task": shell.task}
