"""Ports for SSH into single tasks: when they are open, where, and to whom each leads."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import wraps

from footplate.dialects.pai.plugins import KEY, SSH
from footplate.domain.job import Job
from footplate.domain.states import JobState, TaskState
from footplate.server.ssh.accepting import SignIn, Talk
from footplate.server.ssh.taskports import Behind, TaskPorts
from footplate.store.store import News, Subscriber
from footplate.testing.builders import job, running

HOST = "127.0.0.1"


class Board:
    """The part of a store that tells of jobs."""

    def __init__(self, jobs: Iterable[Job] = ()) -> None:
        self.board = {one.id: one for one in jobs}
        self._tell: Subscriber = lambda _: None

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        self._tell = subscriber
        return lambda: None

    def change(self, new: Job, is_gone: bool = False) -> None:
        self._tell(News((), (), {new.id: None if is_gone else new}))


class Answers:
    """Says over each connection where it leads."""

    def talk_for(self, behind: Behind) -> Talk:
        async def talk(client: socket.socket, sign_in: SignIn) -> None:
            sign_in()
            told = f"{behind.job_id}.{behind.attempt}.{behind.task}".encode()
            await asyncio.get_running_loop().sock_sendall(client, told)

        return talk


def ported(port: int, asks: bool = True) -> Job:
    """A job of two running tasks; the first was given a port for SSH."""
    new = running(job(count=2, extras={KEY: [SSH]} if asks else {}))
    first, second = new.tasks
    return replace(new, tasks=(replace(first, ports=(("ssh", (port,)),)), second))


def concurrently(test: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        asyncio.run(asyncio.wait_for(test(), 30))

    return run


async def read_from(port: int) -> str:
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        return (await reader.read()).decode()
    finally:
        writer.close()


def free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


def followed(board: Board) -> TaskPorts:
    ports = TaskPorts(HOST, Answers().talk_for)
    ports.follow(board)  # type: ignore[arg-type]
    return ports


@concurrently
async def test_each_task_has_a_port_while_it_runs() -> None:
    wanted = free_port()
    one = ported(wanted)
    board = Board([one])
    ports = followed(board)
    found = ports.of(one)
    assert found["main-0"] == wanted
    for task, port in found.items():
        assert await read_from(port) == f"{one.id}.0.{task}"
    first, second = one.tasks
    board.change(replace(one, tasks=(replace(first, state=TaskState.EXITED, exit_code=0), second)))
    assert set(ports.of(one)) == {"main-1"}
    board.change(one, is_gone=True)
    assert ports.of(one) == {}
    await ports.close()
    with socket.create_server((HOST, wanted)):
        """Nobody holds it any more."""


@concurrently
async def test_a_port_that_a_container_has_is_replaced_by_another() -> None:
    with socket.create_server((HOST, 0)) as taken:
        one = ported(taken.getsockname()[1])
        ports = followed(Board([one]))
        port = ports.of(one)["main-0"]
        assert port != taken.getsockname()[1]
        assert await read_from(port) == f"{one.id}.0.main-0"
        await ports.close()


@concurrently
async def test_jobs_that_do_not_ask_and_attempts_that_are_over_have_none() -> None:
    plain, asking = ported(free_port(), asks=False), ported(free_port())
    ports = followed(Board([plain]))
    assert ports.of(plain) == {}
    waiting = replace(asking, state=JobState.QUEUED, tasks=())
    board = Board([waiting])
    ports = followed(board)
    assert ports.of(waiting) == {}
    board.change(replace(asking, attempt=1))
    assert ports.of(asking) == {}
    assert set(ports.of(replace(asking, attempt=1))) == {"main-0", "main-1"}
    await ports.close()
