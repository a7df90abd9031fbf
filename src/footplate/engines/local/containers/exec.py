"""Commands run inside a container that is there."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Sequence

import httpcore
from httpcore import AsyncNetworkStream

from footplate.domain.errors import NotFound
from footplate.engines.base import Stream
from footplate.engines.local.containers.api import CONFLICT, NOT_FOUND, ContainerApi, Refused
from footplate.engines.local.process.processes import descendants, kill_marked, send

CANNOT_EXECUTE = 126
UNKNOWN_CODE = 124
HEADER_BYTES = 8
STANDARD_ERROR = 2
READ_BYTES = 64 * 1024
POLL_EVERY_S = 0.02
POLL_FOR_S = 5


@contextlib.asynccontextmanager
async def exec_in_container(
    api: ContainerApi,
    name: str,
    argv: Sequence[str],
    terminal: tuple[int, int] | None,
    errors_apart: bool = False,
) -> AsyncIterator[Stream]:
    """Run a command in a container; one that still runs when its stream is left is ended."""
    mark = f"FOOTPLATE_EXEC={uuid.uuid4().hex}"
    exec_id = await _create(api, name, argv, mark, terminal is not None)
    async with contextlib.AsyncExitStack() as stack:
        try:
            line = await stack.enter_async_context(api.attach_exec(exec_id, terminal is not None))
        except Refused as error:
            yield CannotRun(error.message)
            return
        stream = ExecStream(api, exec_id, line, terminal is not None, errors_apart)
        try:
            if terminal is not None:
                await stream.resize(*terminal)
            yield stream
        finally:
            if not stream.is_over:
                pid = int((await api.exec_state(exec_id)).get("Pid") or 0)
                await asyncio.to_thread(_end, pid, mark)


async def _create(api: ContainerApi, name: str, argv: Sequence[str], mark: str, has_terminal: bool) -> str:
    attached = dict.fromkeys(("AttachStdin", "AttachStdout", "AttachStderr"), True)
    body = {**attached, "Tty": has_terminal, "Cmd": list(argv), "Env": [mark]}
    try:
        return await api.create_exec(name, body)
    except Refused as error:
        if error.status in (NOT_FOUND, CONFLICT):
            raise NotFound("container_not_running", container=name) from error
        raise


class ExecStream:
    """The engine's connection to a command."""

    def __init__(
        self,
        api: ContainerApi,
        exec_id: str,
        line: AsyncNetworkStream,
        has_terminal: bool,
        errors_apart: bool = False,
    ) -> None:
        self._api = api
        self._exec_id = exec_id
        self._line = line
        self._errors = _Apart() if errors_apart and not has_terminal else None
        apart = self._errors.put if self._errors else None
        self._chunks = self._receive() if has_terminal else frames(self._receive(), apart)
        self.is_over = False

    async def _receive(self) -> AsyncIterator[bytes]:
        with contextlib.suppress(httpcore.ReadError):
            while data := await self._line.read(READ_BYTES):
                yield data

    async def read(self) -> bytes:
        chunk = await anext(self._chunks, b"")
        self.is_over = self.is_over or not chunk
        if self._errors and not chunk:
            self._errors.put(b"")
        return chunk

    async def read_errors(self) -> bytes:
        return await self._errors.take() if self._errors else b""

    async def write(self, data: bytes) -> None:
        with contextlib.suppress(httpcore.WriteError):
            await self._line.write(data)

    async def end_input(self) -> None:
        with contextlib.suppress(OSError):
            self._line.get_extra_info("socket").shutdown(socket.SHUT_WR)

    async def resize(self, rows: int, columns: int) -> None:
        await self._api.resize_exec(self._exec_id, rows, columns)

    async def wait(self) -> int:
        while await self.read():
            pass
        return await _exit_code(self._api, self._exec_id)


class _Apart:
    """What a command writes to standard error, until somebody reads it; it comes with the rest."""

    def __init__(self) -> None:
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def put(self, chunk: bytes) -> None:
        self._chunks.put_nowait(chunk)

    async def take(self) -> bytes:
        return await self._chunks.get()


class CannotRun:
    """A command that the engine could not start: what it says, and the code of a shell for that."""

    def __init__(self, message: str) -> None:
        self._unread = f"{message}\n".encode()

    async def read(self) -> bytes:
        data, self._unread = self._unread, b""
        return data

    async def read_errors(self) -> bytes:
        """It says all of it on the one stream."""
        return b""

    async def write(self, data: bytes) -> None:
        """Nobody reads it."""

    async def end_input(self) -> None:
        """Nobody waits for it."""

    async def resize(self, rows: int, columns: int) -> None:
        """There is no terminal."""

    async def wait(self) -> int:
        return CANNOT_EXECUTE


async def frames(
    stream: AsyncIterator[bytes], errors: Callable[[bytes], None] | None = None
) -> AsyncIterator[bytes]:
    """Take the content out of the engine's frames, of which each says how long it is, and of which stream."""
    unread = b""
    async for chunk in stream:
        unread += chunk
        while len(unread) >= HEADER_BYTES:
            end = HEADER_BYTES + int.from_bytes(unread[4:HEADER_BYTES], "big")
            if len(unread) < end:
                break
            if errors is not None and unread[0] == STANDARD_ERROR:
                errors(unread[HEADER_BYTES:end])
            elif end > HEADER_BYTES:
                yield unread[HEADER_BYTES:end]
            unread = unread[end:]


async def _exit_code(api: ContainerApi, exec_id: str) -> int:
    """Ask for the exit code, which the engine may learn a moment after the output has ended."""
    for _ in range(int(POLL_FOR_S / POLL_EVERY_S)):
        state = await api.exec_state(exec_id)
        if not state.get("Running") and state.get("ExitCode") is not None:
            return int(state["ExitCode"])
        await asyncio.sleep(POLL_EVERY_S)
    return UNKNOWN_CODE


def _end(pid: int, mark: str) -> None:
    """Kill a command and all that it started, where the server may; the engine itself offers no way to."""
    for one in (*descendants(pid), pid) if pid else ():
        send(one, signal.SIGKILL)
    # Whoever has left its parents is known by the mark.
    kill_marked([mark], POLL_FOR_S)
