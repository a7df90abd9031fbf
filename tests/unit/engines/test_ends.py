"""Tasks say that they are over before the kernel does, and nobody else can say it for them."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from footplate.engines.local.observe.records import Identity
from footplate.engines.local.process import native, steps
from footplate.engines.local.process.ends import Ends
from footplate.engines.local.process.processes import boot_id, start_ticks
from footplate.testing.process import await_that


def identity(pid: int, ticks: int) -> Identity:
    return Identity(pid, ticks, boot_id())


async def hear(said: bytes, known: set[Identity]) -> tuple[list[Identity], Ends]:
    """Let somebody say this; return what was told of it."""
    told: list[Identity] = []
    heard = asyncio.Event()

    def tell(one: Identity) -> bool:
        told.append(one)
        heard.set()
        return one in known

    ends = Ends(tell)
    ends.listen()
    for part in (said[:5], said[5:]):
        os.write(ends.lent_fd, part)
        await asyncio.sleep(0)
    await asyncio.wait_for(heard.wait(), 10)
    return told, ends


def test_each_end_is_told_once_however_it_is_cut() -> None:
    async def run() -> None:
        known = {identity(12, 345), identity(6, 7)}
        told, ends = await hear(b"12-345\n6-7\n", known)
        assert set(told) == known
        assert not ends.is_over(identity(12, 345)), "it was known to run when its end was told"
        ends.close()

    asyncio.run(run())


def test_an_end_that_comes_before_the_start_is_remembered_and_asked_for_once() -> None:
    async def run() -> None:
        _, ends = await hear(b"12-345\n", set())
        assert ends.is_over(identity(12, 345))
        assert not ends.is_over(identity(12, 345))
        assert not ends.is_over(identity(12, 346))
        ends.close()

    asyncio.run(run())


def test_what_is_no_name_of_a_task_is_passed_over() -> None:
    async def run() -> None:
        told, ends = await hear(b"\n-\nx-1\n12-\n99999999999-1\n12-345 \n1-2\n", set())
        assert told == [identity(1, 2)]
        ends.close()

    asyncio.run(run())


@pytest.mark.skipif(bool(native.why_not()), reason=f"footplate-init: {native.why_not()}")
def test_the_program_says_its_name_once_the_end_is_recorded(tmp_path: Path) -> None:
    ends_fd, lent_fd = os.pipe()
    record = tmp_path / "exit"
    with record.open("wb") as out:
        order = steps.Order()
        order.add("identify")
        order.add("record", order.lend(out.fileno()))
        order.add("ends", order.lend(lent_fd))
        order.add("environment", "PATH=/usr/bin:/bin")
        order.add("run", "/bin/sh", "-c", f"read line < {tmp_path / 'go'}; exit 3")
        os.mkfifo(tmp_path / "go")
        order_fd = order.write()
        moves = [(order_fd, steps.ORDER_FD), *order.lent()]
        # Out of the way of the numbers that the program knows them by.
        high = [(os.dup2(fd, 100 + number, inheritable=False), number) for fd, number in moves]
        pid = os.posix_spawn(
            native.PROGRAM, [steps.NAME], {}, file_actions=[(os.POSIX_SPAWN_DUP2, *move) for move in high]
        )
    for fd in (lent_fd, order_fd, *(fd for fd, _ in high)):
        os.close(fd)
    name = f"{pid}-{start_ticks(pid)}\n".encode()
    (tmp_path / "go").write_text("\n")
    assert os.read(ends_fd, 100) == name
    assert record.read_text().startswith("3\n")
    await_that(lambda: os.waitpid(pid, os.WNOHANG)[0] == pid, what="the program ends")
    os.close(ends_fd)
