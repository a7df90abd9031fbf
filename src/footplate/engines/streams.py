"""Using streams of engines: run a command to its end, or talk over a socket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

from footplate.domain.errors import EngineUnavailable
from footplate.engines.base import OpensStreams, Ran, Request, Stream

TIMED_OUT = 124
READ_BYTES = 64 * 1024
WRITE_BYTES = 64 * 1024


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


class SocketStream:
    """A connection to a port."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._is_over = asyncio.Event()

    async def read(self) -> bytes:
        try:
            data = await self._reader.read(READ_BYTES)
        except ConnectionError:
            data = b""
        if not data:
            self._is_over.set()
        return data

    async def read_errors(self) -> bytes:
        """A port has one direction out."""
        return b""

    async def write(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            self._writer.write(data)
            await self._writer.drain()

    async def end_input(self) -> None:
        with contextlib.suppress(OSError):
            self._writer.write_eof()

    async def resize(self, rows: int, columns: int) -> None:
        """A port has no terminal."""

    async def wait(self) -> int:
        await self._is_over.wait()
        return 0


@contextlib.asynccontextmanager
async def connection(address: str, port: int) -> AsyncIterator[Stream]:
    """Connect to an address from here."""
    try:
        reader, writer = await asyncio.open_connection(address, port)
    except OSError as error:
        raise EngineUnavailable("port_closed", port=port, address=address, error=str(error)) from error
    try:
        yield SocketStream(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
