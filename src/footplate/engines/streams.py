"""Using streams of engines: run a command to its end, or talk over a socket."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import cast

from footplate.domain.errors import EngineUnavailable
from footplate.engines.base import OpensStreams, Ran, Request, Stream

TIMED_OUT = 124
WRITE_BYTES = 64 * 1024
# What a connection holds that nobody has read yet, and up to how much of that comes at once.
HELD_BYTES = 512 * 1024
JOINED_BYTES = 64 * 1024


async def run(
    engine: OpensStreams,
    request: Request,
    role: str,
    index: int,
    argv: Sequence[str],
    timeout_s: float = 60,
    most_bytes: int = 1024**2,
    stdin: bytes = b"",
) -> Ran:
    """Run a command in a task to its end, and keep the beginning of what it writes.

    One that takes longer than `timeout_s` is ended, with exit code 124.
    """
    output = Output(most_bytes)
    async with engine.exec(request, role, index, argv) as stream:
        sending = asyncio.create_task(_send(stream, stdin))
        try:
            async with asyncio.timeout(timeout_s):
                while chunk := await stream.read():
                    output.add(chunk)
                return Ran(await stream.wait(), bytes(output.kept), output.is_cut)
        except TimeoutError:
            return Ran(TIMED_OUT, bytes(output.kept), output.is_cut, timed_out=True)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)


async def _send(stream: Stream, data: bytes) -> None:
    for start in range(0, len(data), WRITE_BYTES):
        await stream.write(data[start : start + WRITE_BYTES])
    await stream.end_input()


class Output:
    """The beginning of what a command writes."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self.kept = bytearray()
        self.is_cut = False

    def add(self, chunk: bytes) -> None:
        room = self._most_bytes - len(self.kept)
        self.kept += chunk[:room]
        self.is_cut = self.is_cut or len(chunk) > room


class SocketStream(asyncio.Protocol):
    """A connection to a port: what comes is passed on in the pieces in which it came, without a copy."""

    _transport: asyncio.Transport

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()
        self._n_bytes = 0
        self._is_paused = self._has_ended = False
        self._is_over = asyncio.Event()
        self._has_come, self._may_write = asyncio.Event(), asyncio.Event()
        self._may_write.set()

    # What the transport tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._pieces.append(data)
        self._n_bytes += len(data)
        self._has_come.set()
        if self._n_bytes > HELD_BYTES and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        self._has_ended = True
        self._has_come.set()
        # Whoever has said everything may still be told something.
        return True

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # how it ended tells nobody anything
        self.eof_received()
        self._may_write.set()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    # What a stream can do

    async def read(self) -> bytes:
        while not self._pieces:
            if self._has_ended:
                self._is_over.set()
                return b""
            self._has_come.clear()
            await self._has_come.wait()
        data = self._take()
        if self._is_paused and self._n_bytes <= HELD_BYTES and not self._has_ended:
            self._is_paused = False
            self._transport.resume_reading()
        return data

    def _take(self) -> bytes:
        """The next piece; small ones together."""
        if self._n_bytes > JOINED_BYTES or len(self._pieces) == 1:
            data = self._pieces.popleft()
        else:
            data = b"".join(self._pieces)
            self._pieces.clear()
        self._n_bytes -= len(data)
        return data

    async def read_errors(self) -> bytes:
        """A port has one direction out."""
        return b""

    async def write(self, data: bytes) -> None:
        if self._transport.is_closing():
            return
        self._transport.write(data)
        await self._may_write.wait()

    async def end_input(self) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            self._transport.write_eof()

    async def resize(self, rows: int, columns: int) -> None:
        """A port has no terminal."""

    async def wait(self) -> int:
        await self._is_over.wait()
        return 0


@contextlib.asynccontextmanager
async def connection(address: str, port: int) -> AsyncIterator[Stream]:
    """Connect to an address from here."""
    try:
        transport, stream = await asyncio.get_running_loop().create_connection(SocketStream, address, port)
    except OSError as error:
        raise EngineUnavailable("port_closed", port=port, address=address, error=str(error)) from error
    try:
        yield stream
    finally:
        transport.close()
