"""Starts one of our modules as a process that inherits one socket, as standard input, and what it is lent."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

PACKAGES = str(Path(__file__).parents[2])
PROGRAM = """
import sys
from importlib import import_module
sys.path.append(sys.argv.pop(1))
import_module(sys.argv.pop(1)).main()
"""


def start_bare(
    module: str, *arguments: str, lent: Collection[int] = ()
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Run the module's `main`, which inherits the descriptors `lent`; return the process and our socket."""
    ours, theirs = socket.socketpair()
    with theirs:
        # No environment, no site packages, a session of its own: nothing of the server leaks in.
        process = subprocess.Popen(  # noqa: S603  # our own program
            [sys.executable, "-I", "-S", "-c", PROGRAM, PACKAGES, module, *arguments],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
            pass_fds=lent,
        )
    return process, ours
