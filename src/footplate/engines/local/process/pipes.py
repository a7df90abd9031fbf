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
from collections.abc import Callable
from pathlib import Path

from footplate.engines.local.exchange import Streams
from footplate.machine.taskfiles import open_pipe

READ_BYTES = 64 * 1024
CLOSED = -1


class Pipes:
    """This end of a command's input and output; made before the command, whose end is opened by name."""

    def __init__(self, folder: Path, terminal: tuple[int, int] | None, errors_apart: bool = False) -> None:
        folder.mkdir(parents=True)
        self.names: Streams = {"input": "", "output": "", "errors": "", "terminal": ""}
        self._has_terminal = terminal is not None
        # The command's side, held open until it has come: neither side must wait for the other to open.
        self._held_fd = self._input_fd = self._output_fd = self._errors_fd = CLOSED
        if terminal is None:
            self._make_pipes(folder, errors_apart)
        else:
            self._make_terminal(*terminal)

    def _make_pipes(self, folder: Path, errors_apart: bool) -> None:
        for name in ("input", "output"):
            self.names[name] = _pipe_in(folder, name)
        self._held_fd = open_pipe(self.names["input"], os.O_RDWR)
        self._output_fd = open_pipe(self.names["output"], os.O_RDONLY)
        if errors_apart:
            self.names["errors"] = _pipe_in(folder, "errors")
            self._errors_fd = open_pipe(self.names["errors"], os.O_RDONLY)

    def _make_terminal(self, rows: int, columns: int) -> None:
        self._output_fd, self._held_fd = pty.openpty()
        self._input_fd = os.dup(self._output_fd)
        os.set_blocking(self._output_fd, False)
        # By its descriptor: whoever starts tasks may have other terminals at /dev/pts.
        self.names["terminal"] = f"/proc/{os.getpid()}/fd/{self._held_fd}"
        self.resize(rows, columns)

    def let_go(self) -> None:
        """Leave its side to the command, which has it open by now."""
        if not self._has_terminal:
            # A command that has ended already reads nothing.
            with contextlib.suppress(OSError):
                self._input_fd = open_pipe(self.names["input"], os.O_WRONLY)
        os.close(self._held_fd)
        self._held_fd = CLOSED

    async def read(self) -> bytes:
        return await self._read(self._output_fd)

    async def read_errors(self) -> bytes:
        return b"" if self._errors_fd == CLOSED else await self._read(self._errors_fd)

    async def _read(self, fd: int) -> bytes:
        while True:
            try:
                return os.read(fd, READ_BYTES)
            except BlockingIOError:
                loop = asyncio.get_running_loop()
                await _ready(fd, loop.add_reader, loop.remove_reader)
            except OSError as error:
                # How a terminal says that nobody has it open any more.
                if error.errno == errno.EIO:
                    return b""
                raise

    async def write(self, data: bytes) -> None:
        while data and self._input_fd != CLOSED:
            try:
                data = data[os.write(self._input_fd, data) :]
            except BlockingIOError:
                loop = asyncio.get_running_loop()
                await _ready(self._input_fd, loop.add_writer, loop.remove_writer)
            except OSError:
                return

    async def end_input(self) -> None:
        if self._has_terminal:
            # What a terminal's user types to end the input.
            await self.write(b"\x04")
        elif self._input_fd != CLOSED:
            os.close(self._input_fd)
            self._input_fd = CLOSED

    def resize(self, rows: int, columns: int) -> None:
        if self._has_terminal:
            fcntl.ioctl(self._output_fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self) -> None:
        for fd in (self._held_fd, self._input_fd, self._output_fd, self._errors_fd):
            if fd != CLOSED:
                os.close(fd)
        self._held_fd = self._input_fd = self._output_fd = self._errors_fd = CLOSED


def _pipe_in(folder: Path, name: str) -> str:
    path = str(folder / name)
    os.mkfifo(path, 0o600)
    return path


async def _ready(fd: int, add: Callable[..., None], remove: Callable[[int], bool]) -> None:
    """Wait until something can be read or written; by hand: not every loop takes terminals for pipes."""
    ready = asyncio.Event()
    add(fd, ready.set)
    try:
        await ready.wait()
    finally:
        remove(fd)
