"""`footplate shell` on a real terminal, in a real task."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.testing.process import FOOTPLATE, ServerProcess, await_that

DEADLINE_S = 20.0


class Typist:
    """Somebody at a terminal that runs the command."""

    def __init__(self, server: ServerProcess, *words: str) -> None:
        self._fd, inner = pty.openpty()
        self.resize(24, 80)
        self.process = subprocess.Popen(
            [FOOTPLATE, *words],
            env=server.environment,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
        )
        os.close(inner)
        self.shown = b""

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def until(self, text: str) -> str:
        """Read until something is shown; return what came since the last time."""
        os.set_blocking(self._fd, False)
        give_up_at = time.monotonic() + DEADLINE_S
        while text.encode() not in self.shown:
            assert time.monotonic() < give_up_at, self.shown.decode(errors="replace")
            try:
                self.shown += os.read(self._fd, 65536)
            except BlockingIOError:
                time.sleep(0.01)
        before, found, self.shown = self.shown.partition(text.encode())
        return (before + found).decode(errors="replace")

    def ready(self) -> None:
        """Wait until a shell answers, whatever its prompt is."""
        self.type("echo rea''dy\n")
        self.until("ready")

    def ended(self) -> int:
        return self.process.wait(DEADLINE_S)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._fd)


@pytest.fixture(scope="module")
def job(server: ServerProcess) -> Iterator[str]:
    made = server.command("submit", "--name", "entered", "--env", "COLOUR=green", "--", "sleep", "600")
    assert made.returncode == 0, made.stderr
    with server.client() as client:
        await_that(lambda: client.get("/jobs/entered").json()["state"] == "RUNNING", DEADLINE_S, "it runs")
    yield "entered"
    server.command("stop", "entered")


@pytest.fixture
def typist(server: ServerProcess, job: str) -> Iterator[Typist]:
    one = Typist(server, "shell", job)
    try:
        one.ready()
        yield one
    finally:
        one.close()


def test_a_shell_has_the_tasks_variables_a_terminal_and_an_exit_code(typist: Typist) -> None:
    typist.type("echo colour=$COLOUR; test -t 0 && test -t 1 && echo a terminal; echo $TERM\n")
    typist.until("colour=green")
    typist.until("a terminal\r")
    typist.until("xterm-256color\r")
    typist.type("exit 7\n")
    assert typist.ended() == 7


def test_a_shell_follows_the_size_of_the_terminal(typist: Typist) -> None:
    typist.type("stty size\n")
    typist.until("24 80\r")
    typist.resize(50, 132)
    typist.process.send_signal(signal.SIGWINCH)
    typist.type("until [ \"$(stty size)\" = '50 132' ]; do sleep 0.05; done; echo re''sized\n")
    typist.until("resized")


def test_ctrl_c_ends_what_runs_in_the_shell_and_not_the_shell(typist: Typist) -> None:
    typist.type("echo beg''un; sleep 600\n")
    typist.until("begun")
    typist.type("\x03")
    typist.type("echo still $((40 + 2))\n")
    typist.until("still 42")


def test_enter_tilde_dot_leaves(typist: Typist) -> None:
    typist.type("\r")
    typist.type("~")
    typist.type(".")
    typist.until("Left")
    assert typist.ended() == 255


def test_after_a_restart_of_the_server_there_is_a_new_shell(server: ServerProcess, typist: Typist) -> None:
    typist.type("KEPT=before; echo ok $KEPT\n")
    typist.until("ok before")
    server.kill()
    typist.until("connection lost")
    server.start()
    typist.until("this is a new one")
    typist.ready()
    typist.type("echo again${KEPT:-nothing}\n")
    typist.until("againnothing")
    typist.type("exit\n")
    assert typist.ended() == 0


def test_input_that_is_no_terminal_is_typed_to_its_end(server: ServerProcess, job: str) -> None:
    ran = server.command("shell", job, "--task", "main/0", input="echo piped $((1 + 1))\nexit 5\n")
    assert "piped 2" in ran.stdout
    assert ran.returncode == 5, ran.stderr


def test_a_task_that_is_not_there_is_named(server: ServerProcess, job: str) -> None:
    ran = server.command("shell", job, "--task", "worker/9")
    assert ran.returncode != 0
    assert "worker/9" in ran.stderr


def test_a_shell_that_is_left_leaves_nothing_behind(typist: Typist) -> None:
    typist.type(
        "sh -c 'exec -a left-behind-here sleep 600' || bash -c 'exec -a left-behind-here sleep 600'\n"
    )
    await_that(lambda: _runs("left-behind-here"), DEADLINE_S, "it runs")
    typist.type("\r~.")
    assert typist.ended() == 255
    await_that(lambda: not _runs("left-behind-here"), DEADLINE_S, "it is gone")


def _runs(name: str) -> bool:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes().startswith(name.encode()):
                return True
        except OSError:
            continue
    return False
