"""Threads for storages: one that hangs holds up nobody else, and is told of at once."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from footplate.domain.errors import StorageAway
from footplate.storages import lanes
from footplate.storages.lanes import MOST_THREADS, Lane, Lanes


def test_work_is_done_in_a_thread_and_its_fault_is_told() -> None:
    async def story() -> None:
        lane = Lane("x")
        assert await lane.run(lambda: threading.current_thread().name) == "footplate-storage-x"
        with pytest.raises(FileNotFoundError):
            await lane.run(Path("/does/not/exist").read_bytes)

    asyncio.run(story())


async def answer_of(lane: Lane) -> object:
    (answer,) = await asyncio.gather(lane.run(lambda: True), return_exceptions=True)
    return answer


def test_a_storage_that_hangs_is_refused_at_once_until_it_answers_again() -> None:
    async def story() -> None:
        lane, answers = Lane("nfs", silent_after_s=0.1), threading.Event()
        hanging = [lane.run(answers.wait) for _ in range(MOST_THREADS)]
        told = await asyncio.gather(*hanging, return_exceptions=True)
        assert all(isinstance(one, StorageAway) for one in told)
        assert "nfs has not answered" in str(told[0])
        tried = threading.Event()
        with pytest.raises(StorageAway):
            await lane.run(tried.set)
        assert await Lanes().of("other").run(lambda: 2) == 2
        answers.set()
        async with asyncio.timeout(5):
            while isinstance(await answer_of(lane), StorageAway):
                await asyncio.sleep(0.01)
        assert await lane.run(lambda: 3) == 3
        # It was refused before any thread took it on.
        assert not tried.is_set()

    asyncio.run(story())


def test_many_pieces_of_work_are_all_done_by_few_threads() -> None:
    async def story() -> None:
        lane, seen = Lane("x"), set[int]()
        await asyncio.gather(*(lane.run(lambda: seen.add(threading.get_ident())) for _ in range(200)))
        assert 1 <= len(seen) <= MOST_THREADS

    asyncio.run(story())


def test_threads_that_have_nothing_to_do_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "IDLE_S", 0.05)

    def living() -> list[str]:
        return [thread.name for thread in threading.enumerate() if thread.name == "footplate-storage-idle"]

    async def story() -> None:
        lane = Lane("idle")
        await lane.run(lambda: None)
        async with asyncio.timeout(5):
            while living():
                await asyncio.sleep(0.01)
        assert await lane.run(lambda: "again") == "again"

    asyncio.run(story())
