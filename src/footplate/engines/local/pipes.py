"""What a command inside a task reads and writes: two named pipes in its folder, or a terminal."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import pty
import struct
import termios
from pathlib import Path
from typing import Any

from footplate.taskfiles import open_pipe

READ_BYTES = 64 * 1024


class Pipes:
    """This end of a command's input and output; made before the command, whose end is opened by name."""

    def __init__(self, folder: Path, terminal: tuple[int, int] | None) -> None:
        folder.mkdir(parents=True)
        self._input_path = str(folder / "input")
        self._held_fd = self._master_fd = self._slave_fd = -1
        self._writer: asyncio.StreamWriter | None = None
        self._reader: asyncio.StreamReader | None = None
        self._transports: list[asyncio.BaseTransport] = []
        self.names: dict[str, Any] = {"input": "", "output": "", "terminal": ""}
        if terminal is not None:
            self._master_fd, self._slave_fd = pty.openpty()
            # By its descriptor: whoever starts tasks may have other terminals at /dev/pts.
            self.names["terminal"] = f"/proc/{os.getpid()}/fd/{self._slave_fd}"
            self.resize(*terminal)
            return
        output = str(folder / "output")
        os.mkfifo(self._input_path, 0o600)
        os.mkfifo(output, 0o600)
        self.names.update(input=self._input_path, output=output)
        # Held both ways until the command has come: neither side must wait for the other to open.
        self._held_fd = open_pipe(self._input_path, os.O_RDWR)
        self._output_fd = open_pipe(output, os.O_RDONLY)

    async def connect(self) -> None:
        """Begin to read and write, now that the command has its ends."""
        if self._master_fd >= 0:
            os.close(self._slave_fd)
            self._slave_fd = -1
            os.set_blocking(self._master_fd, False)
            await self._read_from(os.dup(self._master_fd))
            await self._write_to(os.dup(self._master_fd))
            return
        await self._read_from(self._output_fd)
        # A command that has ended already reads nothing.
        with contextlib.suppress(OSError):
            await self._write_to(open_pipe(self._input_path, os.O_WRONLY))
        os.close(self._held_fd)
        self._held_fd = -1

    async def _read_from(self, fd: int) -> None:
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(fd, "rb", 0))
        self._transports.append(transport)
        self._reader = reader

    async def _write_to(self, fd: int) -> None:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.streams.FlowControlMixin(loop=loop), os.fdopen(fd, "wb", 0)
        )
        self._transports.append(transport)
        self._writer = asyncio.StreamWriter(transport, protocol, None, loop)

    async def read(self) -> bytes:
        assert self._reader is not None
        try:
            return await self._reader.read(READ_BYTES)
        except OSError as error:
            # How a terminal says that nobody has it open any more.
            if error.errno == errno.EIO:
                return b""
            raise

    async def write(self, data: bytes) -> None:
        if self._writer is not None:
            with contextlib.suppress(ConnectionError):
                self._writer.write(data)
                await self._writer.drain()

    async def end_input(self) -> None:
        if self._master_fd >= 0:
            # What a terminal's user types to end the input.
            await self.write(b"\x04")
        elif self._writer is not None:
            self._writer.close()

    def resize(self, rows: int, columns: int) -> None:
        if self._master_fd >= 0:
            fcntl.ioctl(self._master_fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self) -> None:
        for transport in self._transports:
            if transport.is_closing():
                continue
            if isinstance(transport, asyncio.WriteTransport):
                # What nobody has read by now, nobody will.
                transport.abort()
            else:
                transport.close()
        for fd in (self._held_fd, self._master_fd, self._slave_fd):
            if fd >= 0:
                os.close(fd)
        if self._reader is None and self._master_fd < 0:
            os.close(self._output_fd)
