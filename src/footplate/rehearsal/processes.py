"""The processes of a rehearsed job: each task a group of its own, its output cut into lines."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

# Says which task printed which piece of text.
Print = Callable[[str, str], None]
# By attempt, role, index and run.
Key = tuple[int, str, int, int]
PIECE_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of a run of a task."""

    key: Key
    at: float
    exit_code: int


class Processes:
    """Starts and ends them; ends are put into `exits`."""

    def __init__(self, show: Print) -> None:
        self._show = show
        self._running: dict[Key, subprocess.Popen[bytes]] = {}
        self.exits: queue.SimpleQueue[Exit] = queue.SimpleQueue()

    def start(self, key: Key, argv: Sequence[str], env: Mapping[str, str], folder: str) -> None:
        process = subprocess.Popen(  # noqa: S603  # what the job file says is what is to be run
            argv,
            env=dict(env),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._running[key] = process
        assert process.stdout is not None
        threading.Thread(target=self._watch, args=(key, process, process.stdout), daemon=True).start()

    def _watch(self, key: Key, process: subprocess.Popen[bytes], output: IO[bytes]) -> None:
        reader = threading.Thread(target=self._relay, args=(f"{key[1]}-{key[2]}", output), daemon=True)
        reader.start()
        code = process.wait()
        # As on the platform, nothing outlives the command.
        _signal(process, signal.SIGKILL)
        reader.join()
        self.exits.put(Exit(key, time.time(), code if code >= 0 else 128 - code))

    def _relay(self, task: str, output: IO[bytes]) -> None:
        with output:
            while piece := os.read(output.fileno(), PIECE_BYTES):
                self._show(task, piece.decode(errors="replace"))

    def forget(self, key: Key) -> None:
        self._running.pop(key, None)

    @property
    def are_gone(self) -> bool:
        return not self._running

    def ask_to_end(self) -> None:
        for process in self._running.values():
            _signal(process, signal.SIGTERM)

    def end(self) -> None:
        for process in self._running.values():
            _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
