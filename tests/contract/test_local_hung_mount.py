"""Tasks whose mount hangs while they are being started, after everything was looked at."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.attempt import Attempt
from footplate.domain.errors import EngineUnavailable
from footplate.domain.spec import RoleSpec
from footplate.domain.states import TaskState
from footplate.domain.storage import Volume
from footplate.engines.local.confine import cgroups
from footplate.engines.local.confine.confinement import confine
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.process.spawner import MAX_STARTING
from footplate.testing.engine_bench import Bench, local_settings, on_loop, volume
from footplate.testing.hanging import HangingFolder, hanging_folder, why_none
from footplate.testing.process import await_that

WITHIN_S = 3.0
# More than the spawner has on their way at a time.
N_TASKS = MAX_STARTING + 6


class TestHungMounts:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> Iterator[None]:
        if why := why_none():
            pytest.skip(why)
        self.home = tmp_path
        with hanging_folder(tmp_path / "storage") as folder:
            self.folder: HangingFolder = folder
            yield

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        return Bench(self.make_engine, tmp_path, tmp_path / "home")

    def make_engine(self) -> LocalEngine:
        engine = LocalEngine(local_settings(self.home / "home", mounted_within_s=WITHIN_S))
        if "files" not in engine.capabilities.limits:
            pytest.skip("this machine cannot give tasks a view of their own")
        return engine

    def run_loop(self, main: Coroutine[Any, Any, None]) -> None:
        asyncio.run(main)

    def mounts(self) -> tuple[Volume, ...]:
        return (volume(self.folder.path, "/data"),)

    def groups(self) -> list[str]:
        return list(cgroups.names(confine(local_settings(self.home / "home"), {}).trees))

    @pytest.mark.alone
    @on_loop
    async def test_a_hung_gang_is_given_up_in_time_and_keeps_nobody_waiting(self, bench: Bench) -> None:
        gang = RoleSpec("echo ran", count=N_TASKS)
        assert await bench.exit_code(await bench.launch("true", attempt=9)) == 0
        n_groups = len(self.groups())
        self.folder.hang()
        began_at = time.monotonic()
        stuck = asyncio.create_task(bench.launch(gang, volumes=self.mounts()))
        await asyncio.to_thread(await_that, lambda: self.folder.n_waiting() >= MAX_STARTING)
        asked_at = time.monotonic()
        assert await bench.exit_code(await bench.launch("true", attempt=1)) == 0
        assert time.monotonic() - asked_at < WITHIN_S / 1.5
        why = f"{self.folder.path} at /data could not be mounted within 3 seconds: a file system on the way"
        with pytest.raises(EngineUnavailable, match=why):
            await stuck
        assert time.monotonic() - began_at < 3 * WITHIN_S
        await asyncio.to_thread(await_that, lambda: self.folder.n_waiting() == 0)
        await asyncio.to_thread(await_that, lambda: len(self.groups()) <= n_groups)

        self.folder.answer()
        launched = await bench.launch(gang, volumes=self.mounts())
        assert {one.exit_code for one in await bench.until_over(launched)} == {0}
        assert all(bench.log(launched, "main", index) == b"ran\n" for index in range(N_TASKS))

    @on_loop
    async def test_a_task_that_was_stopped_while_its_mount_hung_never_runs(self, bench: Bench) -> None:
        self.folder.hang()
        request = bench.compile("echo ran", volumes=self.mounts())
        launched: Attempt = bench.attempt_of(request)
        launching = asyncio.create_task(bench.engine.launch(request))
        await asyncio.to_thread(await_that, lambda: self.folder.n_waiting() > 0)
        await bench.engine.stop(launched, grace_s=0)
        self.folder.answer()
        await asyncio.wait([launching])
        (seen,) = await bench.until_over(launched)
        assert seen.state is TaskState.EXITED
        assert bench.log(launched) == b""

    @pytest.mark.alone
    @on_loop
    async def test_an_engine_that_closes_leaves_nothing_behind_in_a_hung_mount(self, bench: Bench) -> None:
        self.folder.hang()
        launching = asyncio.create_task(bench.launch("true", volumes=self.mounts()))
        await asyncio.to_thread(await_that, lambda: self.folder.n_waiting() > 0)
        began_at = time.monotonic()
        await bench.engine.close()
        assert time.monotonic() - began_at < WITHIN_S
        launching.cancel()
        await asyncio.to_thread(await_that, lambda: self.folder.n_waiting() == 0)
        bench.open()
