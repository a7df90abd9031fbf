"""The command line, run in this process or on a terminal of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from footplate.cli.main import run


@dataclass
class Result:
    exit_code: int
    out: str
    err: str


class Command:
    """Calls `footplate` with arguments and returns what a shell would see."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *arguments: str) -> Result:
        exit_code = run(arguments)
        out, err = self._capture.readouterr()
        return Result(exit_code, out, err)


Start = Callable[..., subprocess.Popen[bytes]]


def start_on(terminal: int, *arguments: str) -> subprocess.Popen[bytes]:
    """Start `footplate` on a terminal, and hand the terminal over."""
    program = [sys.executable, "-c", "from footplate.cli.main import main; main()", *arguments]
    process = subprocess.Popen(
        program,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        # A session of its own, so that it finds this terminal and no other when it asks for a password.
        start_new_session=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "20"},
    )
    os.close(terminal)
    return process


def read_until(terminal: int, text: str, deadline_s: float = 15) -> str:
    """Read what a terminal shows until it has shown some text."""
    seen, deadline = "", time.monotonic() + deadline_s
    while text not in seen:
        assert time.monotonic() < deadline, seen
        try:
            seen += os.read(terminal, 4096).decode("utf-8", "replace")
        except OSError:  # the other side has closed the terminal
            break
    return seen
