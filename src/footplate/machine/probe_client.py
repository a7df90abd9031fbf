"""Stats folders whose file system may hang, through a helper process that is killed after a timeout."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from footplate.machine.bareprocess import start_bare

PROGRAM = "footplate.machine.probe_server"
# A killed process is gone in no time, unless the kernel itself waits for the file system.
GONE_WITHIN_S = 1.0
# With so many that cannot be killed, no more are started.
MOST_STUCK = 4
POLL_EVERY_S = 0.1


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path on a storage leads, its root, and where that is mounted; all without links."""

    root: str
    path: str
    mount: str


class Asker:
    """Probes one storage through one helper process, one request at a time."""

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._killed: list[subprocess.Popen[bytes]] = []

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def locate(self, root: str, inner: str, within_s: float) -> Place:
        """Find a path; raise `TimeoutError` when the file system is silent, else OSError as it says."""
        async with self._one_at_a_time:
            try:
                async with asyncio.timeout(within_s):
                    line = await self._ask_twice([root, inner, within_s])
            except BaseException:
                # Its answer may come yet, and is nobody's.
                self._kill()
                raise
        return _read_answer(line)

    async def _ask_twice(self, question: Sequence[str | float]) -> bytes:
        try:
            return await self._ask(question)
        except ConnectionError:
            # Somebody has killed the process, which says nothing of the storage.
            self._kill()
            return await self._ask(question)

    async def _ask(self, question: Sequence[str | float]) -> bytes:
        if self._reader is None or self._writer is None or self._reader.at_eof():
            self._kill()
            while len(self._killed) >= MOST_STUCK:
                await asyncio.sleep(POLL_EVERY_S)
                self._kill()
            process, ours = start_bare(PROGRAM)
            self._process = process
            ours.setblocking(False)
            self._reader, self._writer = await asyncio.open_unix_connection(sock=ours)
        self._writer.write(json.dumps(question).encode() + b"\n")
        line = await self._reader.readline()
        if not line.endswith(b"\n"):
            raise ConnectionResetError("the process that looks at storages was killed")
        return line

    def _kill(self) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._process is not None:
            self._process.kill()
            self._killed.append(self._process)
        self._process = self._reader = self._writer = None
        self._killed = [process for process in self._killed if process.poll() is None]

    async def close(self) -> None:
        self._kill()
        gives_up_at = time.monotonic() + GONE_WITHIN_S
        while self._killed and time.monotonic() < gives_up_at:
            await asyncio.sleep(0.002)
            self._kill()


def locate_all(roots: Sequence[str], within_s: float) -> Mapping[str, Place]:
    """Find several folders while nothing else runs; those that are silent or not there are left out."""
    found: dict[str, Place] = {}
    waiting = list(roots)
    while waiting:
        process, ours = start_bare(PROGRAM)
        try:
            with ours, ours.makefile("rb") as answers, suppress(TimeoutError):
                ours.settimeout(within_s)
                _locate_each(waiting, ours, answers, found)
        finally:
            process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(GONE_WITHIN_S)
    return found


def _locate_each(waiting: list[str], ours: socket.socket, answers: BinaryIO, found: dict[str, Place]) -> None:
    """Ask about one folder after the other, and take each off the list; stop at the first silent one."""
    while waiting:
        root = waiting.pop(0)
        ours.sendall(json.dumps([root, "", ours.gettimeout()]).encode() + b"\n")
        try:
            found[root] = _read_answer(answers.readline())
        except TimeoutError:
            raise
        except OSError:
            continue


def _read_answer(line: bytes) -> Place:
    answer = json.loads(line)
    if "errno" in answer:
        raise OSError(answer["errno"], answer["message"])
    return Place(**answer)
