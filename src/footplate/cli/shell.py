"""The verb shell: a terminal in a task."""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import termios
import threading
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.language import phrase
from footplate.cli.session import connect, job_argument

if TYPE_CHECKING:
    from footplate.sdk.shell import Shell

READ_BYTES = 4096
END_OF_INPUT = b"\x04"
# Of whoever lost the shell without an exit code.
LOST = 255


@click.command()
@job_argument
@click.option("-t", "--task", help="Task to enter, such as worker/0 (default: the first).")
def shell(job: str, task: str | None) -> int:
    """Open a shell inside a task (running, or kept after a failure).

    It has the task's variables, files and limits, and ends with the task. A short loss of the connection
    does no harm. The exit code is the shell's. Type Enter ~ . to leave when nothing else helps.
    """
    size = shutil.get_terminal_size()
    opened = connect().job(job).shell(task, (size.lines, size.columns), _tell)
    ended = _Ended()
    showing = threading.Thread(target=_show, args=(opened, ended), name="shell", daemon=True)
    with _raw(), _following_size(opened):
        showing.start()
        try:
            _type(opened, ended)
        finally:
            if not ended.is_over:
                opened.end()
            showing.join(5)
    if ended.error is not None:
        raise ended.error
    return LOST if ended.code is None else ended.code


class _Ended:
    """How the shell ended; whoever waits for the keyboard is woken by a pipe."""

    def __init__(self) -> None:
        self.wake_fd, self._tell_fd = os.pipe()
        self.code: int | None = None
        self.error: Exception | None = None
        self.is_over = False

    def tell(self) -> None:
        self.is_over = True
        os.write(self._tell_fd, b".")


def _show(opened: Shell, ended: _Ended) -> None:
    try:
        ended.code = opened.run(_write)
    except Exception as error:  # noqa: BLE001  # raised again where the command ends
        ended.error = error
    finally:
        ended.tell()


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _type(opened: Shell, ended: _Ended) -> None:
    """Send what is typed, to the end of the shell."""
    escape, fd = _Escape(), sys.stdin.fileno()
    watched = [fd, ended.wake_fd]
    while True:
        ready, _, _ = select.select(watched, [], [])
        if ended.wake_fd in ready:
            return
        data = os.read(fd, READ_BYTES)
        if not data:
            opened.write(END_OF_INPUT)
            watched = [ended.wake_fd]
        elif escape.is_in(data):
            click.echo("\r\n" + phrase("Left; the shell is ended.") + "\r", err=True)
            return
        else:
            opened.write(data)


class _Escape:
    """Finds `~.` at the beginning of a line, as ssh does."""

    def __init__(self) -> None:
        self._tail = b"\r"

    def is_in(self, data: bytes) -> bool:
        if not sys.stdin.isatty():
            return False
        text, self._tail = self._tail + data, (self._tail + data)[-2:]
        return b"\r~." in text


@contextmanager
def _raw() -> Iterator[None]:
    """Hand every key to the shell, while this lasts."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setraw(sys.stdin, termios.TCSADRAIN)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


@contextmanager
def _following_size(opened: Shell) -> Iterator[None]:
    def resize(_number: int, _frame: Any) -> None:
        size = os.get_terminal_size(sys.stdout.fileno())
        # Not here: the connection may be in use by whom this interrupts.
        threading.Thread(target=opened.resize, args=(size.lines, size.columns)).start()

    if not sys.stdout.isatty():
        yield
        return
    before = signal.signal(signal.SIGWINCH, resize)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)


def _tell(what: str) -> None:
    said = {
        "lost": phrase("connection lost; trying again"),
        "back": phrase("connected again"),
        "new": phrase("the shell is gone, with what it ran; this is a new one"),
        "replaced": phrase("somebody else is connected to this shell"),
    }
    click.echo(f"\r\n[{said[what]}]\r", err=True)
