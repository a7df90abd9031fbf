"""What somebody does over SSH in a task: a shell, a command, files by SFTP, or a port."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import asyncssh

from footplate.domain.errors import Denied, FootplateError, NotFound, Unauthenticated
from footplate.domain.job import Job
from footplate.engines.base import Stream
from footplate.runtime import sftp
from footplate.server.together import until_first
from footplate.services import audit
from footplate.services.access import Caller
from footplate.services.platform import Platform
from footplate.services.shells import PROGRAM, TERM

log = logging.getLogger(__name__)

READ_BYTES = 64 * 1024
REFUSED = 255
# Where systems keep OpenSSH's; where there is none, the task's Python is one.
SFTP_PROGRAM = """
for each in /usr/lib/openssh /usr/libexec/openssh /usr/lib/ssh /usr/libexec; do
  [ -x $each/sftp-server ] && exec $each/sftp-server
done
for each in python3 python; do
  command -v $each >/dev/null 2>&1 && exec $each -I -c "$1"
done
echo 'there are no files by SFTP here: the task has neither sftp-server nor python3' >&2
exit 127
"""

# How soon somebody is out who may no longer be in.
WATCH_EVERY_S = 2.0
Entered = tuple[Caller, Job, str, int]
Enter = Callable[[], Awaitable[Entered]]


async def talk(
    process: asyncssh.SSHServerProcess[bytes], platform: Platform, enter: Enter, find: Enter
) -> None:
    """Serve one session, to its end, or until whoever came may no longer be here; they are told why."""
    try:
        caller, job, role, index = await enter()
        async with _started(process, platform, job, role, index) as stream:
            detail = {"name": job.spec.name, "owner": job.owner, "task": f"{role}-{index}"}
            await audit.note(platform, caller, "job.ssh_opened", job.id, **detail)
            await _while_admitted(_carry(process, stream), find)
    except FootplateError as error:
        process.stderr.write(f"footplate: {error}\n".encode())
        process.exit(REFUSED)
    except asyncssh.Error as error:
        log.info("an SSH session broke: %s", error)


def _started(
    process: asyncssh.SSHServerProcess[bytes], platform: Platform, job: Job, role: str, index: int
) -> AbstractAsyncContextManager[Stream]:
    run = platform.streams.run
    if process.subsystem == "sftp":
        program = Path(inspect.getfile(sftp)).read_text()
        return run(job, role, index, ("sh", "-c", SFTP_PROGRAM, "sftp", program), errors_apart=True)
    has_terminal = process.term_type is not None
    columns, rows, _, _ = process.term_size
    size = (rows or 24, columns or 80) if has_terminal else None
    command = _command(process, f"{role}-{index}")
    return run(job, role, index, ("sh", "-c", command), size, errors_apart=not has_terminal)


def _command(process: asyncssh.SSHServerProcess[bytes], task: str) -> str:
    if process.command is not None:
        term = f"export TERM={TERM}; " if process.term_type is not None else ""
        return term + process.command
    if process.term_type is not None:
        return PROGRAM.format(term=TERM, task=task)
    # A shell that reads commands and shows no prompt, as editors start it.
    return "command -v bash >/dev/null 2>&1 && exec bash; exec sh"


async def _while_admitted(carrying: Coroutine[Any, Any, None], find: Enter) -> None:
    """Carry for as long as whoever came may be here; raise why not once they may no longer."""
    for raised in await until_first(carrying, _until_barred(find)):
        if isinstance(raised, Exception):
            raise raised


async def _until_barred(find: Enter) -> None:
    while True:
        await asyncio.sleep(WATCH_EVERY_S)
        try:
            await find()
        except (Unauthenticated, Denied, NotFound):
            raise
        except FootplateError as error:
            # Of a job that ends, the task ends by itself; and what cannot be asked just now puts nobody out.
            log.debug("whether somebody may still be in was not found out: %s", error)


async def _carry(process: asyncssh.SSHServerProcess[bytes], stream: Stream) -> None:
    """Carry bytes both ways until the command has ended, and tell its exit code."""
    typing = asyncio.create_task(_type(process, stream))
    try:
        await asyncio.gather(_show(stream.read, process.stdout), _show(stream.read_errors, process.stderr))
        process.exit(await stream.wait())
    finally:
        typing.cancel()
        await asyncio.gather(typing, return_exceptions=True)


async def _show(read: Callable[[], Awaitable[bytes]], out: asyncssh.SSHWriter[bytes]) -> None:
    while data := await read():
        with contextlib.suppress(BrokenPipeError, ConnectionError):
            out.write(data)
            await out.drain()


async def _type(process: asyncssh.SSHServerProcess[bytes], stream: Stream) -> None:
    while True:
        try:
            data = await process.stdin.read(READ_BYTES)
        except asyncssh.TerminalSizeChanged as size:
            await stream.resize(size.height, size.width)
            continue
        except (asyncssh.BreakReceived, asyncssh.SignalReceived):
            continue
        if not data:
            break
        await stream.write(data)
    await stream.end_input()


async def forward(platform: Platform, enter: Enter, find: Enter, port: int, reader: Any, writer: Any) -> None:
    """Carry bytes between a client and a port of the task, as a session does."""
    try:
        _, job, role, index = await enter()
        async with platform.streams.connect(job, role, index, port) as stream:
            await _while_admitted(_join(reader, writer, stream), find)
    except (FootplateError, asyncssh.Error, OSError) as error:
        log.info("port %s was not forwarded: %s", port, error)
    finally:
        writer.close()


async def _join(reader: Any, writer: Any, stream: Stream) -> None:
    sending = asyncio.create_task(_send(reader, stream))
    try:
        await _show(stream.read, writer)
        with contextlib.suppress(OSError):
            writer.write_eof()
        await sending
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def _send(reader: Any, stream: Stream) -> None:
    while data := await reader.read(READ_BYTES):
        await stream.write(data)
    await stream.end_input()
