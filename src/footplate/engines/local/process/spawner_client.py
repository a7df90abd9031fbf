"""The server's end of the spawner: starts it when needed, sends it work, notices when it dies."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import subprocess
from collections.abc import Mapping, Sequence

from footplate.domain.messages.message import from_json
from footplate.engines.local.exchange import Answer, Ground, SpawnOrder
from footplate.machine.bareprocess import start_bare

PROGRAM = "footplate.engines.local.process.spawner"
MAX_ANSWER_BYTES = 16 * 1024**2
# Starting a task takes milliseconds, unless a file system hangs: then the spawner itself still answers.
QUICK_S, HUNG_AFTER_S = 2.0, 8.0

log = logging.getLogger(__name__)

Answers = Sequence[Answer]


class SpawnerGone(Exception):  # it states the fact, like the errors of the tree
    """The spawner ended before it answered: some tasks may have been started."""


class SpawnerClient:
    """Talks to one spawner process at a time."""

    def __init__(self, confined: Ground) -> None:
        self._confined = confined
        self._connecting = asyncio.Lock()
        self._connection: _Connection | None = None
        self._retiring: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def start(self, env: Mapping[str, str], tasks: Sequence[SpawnOrder]) -> Answers:
        """Have the tasks started; answer per task as the spawner does, or raise `SpawnerGone`."""
        async with self._connecting:
            if self._is_closed:
                raise SpawnerGone
            if self._connection is None or self._connection.is_lost:
                await self.close()
                self._connection = await _Connection.open(self._confined)
            connection = self._connection
        return await connection.ask(env, tasks)

    def renew(self) -> None:
        """Have what comes next started by a new spawner, which sees what is mounted by now.

        The one of now ends when it has answered for what it has begun.
        """
        connection, self._connection = self._connection, None
        if connection is not None:
            retiring = asyncio.create_task(connection.retire())
            self._retiring.add(retiring)
            retiring.add_done_callback(self._retiring.discard)

    @property
    def pid(self) -> int | None:
        return self._connection.pid if self._connection else None

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def close_all(self) -> None:
        """End every spawner, also those that have not answered yet, and start no more."""
        self._is_closed = True
        for retiring in self._retiring:
            retiring.cancel()
        await asyncio.gather(*self._retiring, return_exceptions=True)
        await self.close()


def _heard(answer: Answer) -> Answer:
    """Read what the spawner says of a task: it has no tables of sentences, and tells a message as JSON."""
    if "error" not in answer:
        return answer
    return {**answer, "error": from_json(answer["error"])}


class _Connection:
    def __init__(
        self,
        process: subprocess.Popen[bytes],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._answers: dict[int, asyncio.Future[Answers]] = {}
        self._n_asked = 0
        self._pong: asyncio.Future[Answers] | None = None
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, confined: Ground) -> _Connection:
        process, ours = start_bare(PROGRAM, json.dumps(confined), lent=[confined["ends_fd"]])
        ours.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=ours, limit=MAX_ANSWER_BYTES)
        return cls(process, reader, writer)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_lost(self) -> bool:
        return self._reading.done() or self._writer.is_closing()

    async def ask(self, env: Mapping[str, str], tasks: Sequence[SpawnOrder]) -> Answers:
        if self.is_lost:
            raise SpawnerGone
        self._n_asked += 1
        answer: asyncio.Future[Answers] = asyncio.get_running_loop().create_future()
        self._answers[self._n_asked] = answer
        request = {"id": self._n_asked, "env": env, "tasks": tasks}
        self._writer.write(json.dumps(request).encode() + b"\n")
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(HUNG_AFTER_S):
                await self._writer.drain()
        while not (await asyncio.wait([answer], timeout=QUICK_S))[0]:
            await self._require_alive()
        return answer.result()

    async def _require_alive(self) -> None:
        """End a spawner that does not answer a ping: it is stopped or hangs."""
        if self._pong is None:
            self._n_asked += 1
            self._pong = self._answers[self._n_asked] = asyncio.get_running_loop().create_future()
            self._writer.write(json.dumps({"id": self._n_asked, "ping": True}).encode() + b"\n")
        pong = self._pong
        await asyncio.wait([pong], timeout=HUNG_AFTER_S)
        if not pong.done():
            log.warning("the process that starts tasks (%d) does not answer: it is replaced", self.pid)
            self._process.kill()
        self._pong = None

    async def _read(self) -> None:
        with contextlib.suppress(ConnectionError):
            # A line without an end was torn by the spawner's death.
            while (line := await self._reader.readline()).endswith(b"\n"):
                message = json.loads(line)
                answer = self._answers.pop(message["id"])
                if not answer.done():
                    answer.set_result([_heard(one) for one in message["tasks"]])
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(SpawnerGone())

    async def retire(self) -> None:
        """Wait for what was asked, then end it."""
        try:
            if self._answers:
                await asyncio.wait(self._answers.values())
        finally:
            await self.close()

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()
        await self._reading
        await asyncio.to_thread(self._process.wait)
