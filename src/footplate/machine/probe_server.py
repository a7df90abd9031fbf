"""Helper process that stats folders whose file system may hang; it can be killed. Standard library only.

It reads `[root, inner, within_s]`, one JSON array a line, from its standard input, a stream socket, and
answers each with `{"root": "...", "path": "...", "mount": "..."}` or `{"errno": 2, "message": "..."}`.
"""

# Without pathlib this process starts sooner and stays smaller.
# ruff: noqa: PTH116, PTH120, PTH214
from __future__ import annotations

import contextlib
import json
import os
import signal
from typing import Any

from footplate.machine import taskfiles

CHUNK_BYTES = 1 << 16
# Whoever asks kills this process in time; it ends by itself only when nobody is left to do that.
ORPHANED_S = 5


def probe(root: str, inner: str) -> dict[str, str]:
    """Find where a path on a storage leads; raise OSError as the file system says."""
    # What is there may be answered from the kernel's memory; for a name that nobody has used, it must ask.
    with contextlib.suppress(FileNotFoundError):
        os.stat(f"{root}/.footplate-{os.urandom(8).hex()}")
    path = taskfiles.beneath(root, inner)
    os.stat(path)
    mount = real_root = os.path.realpath(root)
    while not os.path.ismount(mount):
        mount = os.path.dirname(mount)
    return {"root": real_root, "path": path, "mount": mount}


def answer(line: bytes) -> dict[str, Any]:
    root, inner, within_s = json.loads(line)
    signal.setitimer(signal.ITIMER_REAL, within_s + ORPHANED_S)
    try:
        return probe(root, inner)
    except OSError as error:
        return {"errno": error.errno, "message": error.strerror}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    unread = b""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        while data := os.read(0, CHUNK_BYTES):
            *lines, unread = (unread + data).split(b"\n")
            for line in lines:
                os.write(0, json.dumps(answer(line)).encode() + b"\n")
