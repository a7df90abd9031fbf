"""Storages that hang, die, and come back, as those learn who ask for something on them."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path

import pytest

from footplate.control.storagewatch import StorageWatch
from footplate.domain.errors import EngineUnavailable
from footplate.domain.storage import Storage
from footplate.machine.probe_client import Asker, locate_all
from footplate.testing.engine_bench import until
from footplate.testing.hanging import HangingFolder, hanging_folder, why_none

SILENT_AFTER_S = 0.5
Story = Callable[[StorageWatch], Coroutine[None, None, None]]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[HangingFolder]:
    if why := why_none():
        pytest.skip(why)
    with hanging_folder(tmp_path) as folder:
        (folder.content / "sub").mkdir()
        yield folder


@pytest.fixture
def away(folder: HangingFolder) -> Storage:
    return Storage("away", str(folder.path))


def tell(story: Story) -> None:
    async def run() -> None:
        watch = StorageWatch(SILENT_AFTER_S)
        try:
            async with asyncio.timeout(20):
                await story(watch)
        finally:
            await watch.close()

    asyncio.run(run())


async def until_back(watch: StorageWatch) -> None:
    async def look() -> bool | None:
        return None if watch.silences() else True

    await until(look)


@pytest.mark.alone
def test_all_who_ask_a_hung_storage_learn_it_together_and_one_process_waits(
    folder: HangingFolder, away: Storage
) -> None:
    async def story(watch: StorageWatch) -> None:
        folder.hang()
        began_at = time.monotonic()
        asking = [asyncio.create_task(watch.locate(away, "sub")) for _ in range(40)]

        async def look() -> dict[str, str] | None:
            return watch.silences() or None

        # Long before it counts as silent, nobody else should be sent there.
        assert "away" in await until(look)
        assert not any(task.done() for task in asking)
        assert folder.n_waiting() == 1
        answers = await asyncio.gather(*asking, return_exceptions=True)
        assert time.monotonic() - began_at < 4 * SILENT_AFTER_S
        assert {str(one) for one in answers} == {
            "storage away has not answered for 1 second: is its file server down?"
        }
        asked_at = time.monotonic()
        with pytest.raises(EngineUnavailable):
            await watch.locate(away, "sub")
        assert time.monotonic() - asked_at < SILENT_AFTER_S / 2

    tell(story)


def test_a_storage_that_answers_again_is_used_again_and_told(
    folder: HangingFolder, away: Storage, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[bool] = []

    async def story(watch: StorageWatch) -> None:
        watch.on_answer(lambda: told.append(True))
        folder.hang()
        with pytest.raises(EngineUnavailable):
            await watch.locate(away, "sub")
        folder.answer()
        await until_back(watch)
        assert (await watch.locate(away, "sub")).path == f"{folder.path}/sub"

    with caplog.at_level(logging.WARNING):
        tell(story)
    assert told == [True]
    assert [record.message for record in caplog.records] == [
        "storage away has not answered for 1 second: is its file server down?",
        "storage away answers again",
    ]


def test_the_empty_folder_of_an_unmounted_storage_is_no_answer(folder: HangingFolder, away: Storage) -> None:
    async def story(watch: StorageWatch) -> None:
        await watch.locate(away, "sub")
        folder.die()
        with pytest.raises(EngineUnavailable, match="not connected"):
            await watch.locate(away, "sub")
        folder.unmount()
        asker = Asker()
        assert (await asker.locate(str(folder.path), "", 5)).mount != str(folder.path)
        await asker.close()
        with pytest.raises(EngineUnavailable):
            await watch.locate(away, "sub")
        folder.mount()
        await until_back(watch)
        await watch.locate(away, "sub")

    tell(story)


def test_whoever_stops_asking_leaves_the_others_their_answer(folder: HangingFolder, away: Storage) -> None:
    async def story(watch: StorageWatch) -> None:
        folder.hang()
        first, second = [asyncio.create_task(watch.locate(away, "sub")) for _ in range(2)]
        await asyncio.sleep(0)
        first.cancel()
        folder.answer()
        assert (await second).root == str(folder.path)

    tell(story)


def test_a_silent_storage_says_nothing_about_another(
    folder: HangingFolder, away: Storage, tmp_path: Path
) -> None:
    async def story(watch: StorageWatch) -> None:
        folder.hang()
        asking = asyncio.create_task(watch.locate(away, ""))
        (tmp_path / "good").mkdir()
        assert (await watch.locate(Storage("good", str(tmp_path / "good")), "")).path == str(
            tmp_path / "good"
        )
        assert not asking.done()
        with pytest.raises(EngineUnavailable):
            await asking
        assert list(watch.silences()) == ["away"]

    tell(story)


def test_closing_ends_the_process_that_waits(folder: HangingFolder, away: Storage) -> None:
    async def story(watch: StorageWatch) -> None:
        folder.hang()
        with pytest.raises(EngineUnavailable):
            await watch.locate(away, "")

    tell(story)
    assert folder.n_waiting() == 0


def test_a_killed_process_says_nothing_of_its_storage(tmp_path: Path) -> None:
    async def ask() -> None:
        asker = Asker()
        for _ in range(3):
            assert (await asker.locate(str(tmp_path), "", 10)).path == str(tmp_path)
            assert asker.pid is not None
            os.kill(asker.pid, signal.SIGKILL)
        await asker.close()

    asyncio.run(ask())


def test_folders_are_found_beside_those_that_hang_or_are_not_there(
    folder: HangingFolder, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    folder.hang()
    roots = [str(folder.path), str(tmp_path / "link"), f"{folder.path}/sub", str(tmp_path / "none"), "/"]
    found = locate_all(roots, 0.5)
    assert {root: place.root for root, place in found.items()} == {roots[1]: str(tmp_path), "/": "/"}
