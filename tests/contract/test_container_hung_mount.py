"""Containers whose mount hangs in the container engine itself, after everything was looked at."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from containerbench import InContainers, OfEngine

from footplate.domain.attempt import Attempt
from footplate.domain.errors import EngineUnavailable, OutcomeUnknown
from footplate.domain.spec import RoleSpec
from footplate.engines.local.engine import LocalEngine
from footplate.testing import container_engine as engines
from footplate.testing.container_engine import ContainerEngine
from footplate.testing.engine_bench import Bench, local_settings, on_loop, until, volume
from footplate.testing.hanging import HangingFolder, hanging_folder, why_none

WITHIN_S = 2.0
N_STUCK = 6


class HungMounts(OfEngine):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> Iterator[None]:
        if why := why_none():
            pytest.skip(why)
        with hanging_folder(tmp_path / "storage") as folder:
            (folder.content / "sub").mkdir()
            self.folder: HangingFolder = folder
            yield

    def make_engine(self) -> LocalEngine:
        containers = replace(self.settings, socket=str(self.engine.socket))
        return InContainers(local_settings(self.home, containers=containers, mounted_within_s=WITHIN_S))

    @pytest.mark.alone
    @pytest.mark.parametrize("inner", ["", "sub"])
    def test_containers_of_a_hung_mount_keep_no_others_from_starting(self, bench: Bench, inner: str) -> None:
        role = RoleSpec("true", image=engines.BUSYBOX)
        mount = volume(self.folder.path, "/data", inner=inner)

        async def check(_: HungMounts, bench: Bench) -> None:
            assert await bench.exit_code(await bench.launch(role, attempt=0, volumes=(mount,))) == 0
            self.folder.hang()
            began_at = time.monotonic()
            stuck = [
                asyncio.create_task(bench.launch(role, attempt=number, volumes=(mount,)))
                for number in range(1, N_STUCK + 1)
            ]
            await asyncio.sleep(0)
            assert await bench.exit_code(await bench.launch(role, attempt=99)) == 0
            results = await asyncio.gather(*stuck, return_exceptions=True)
            assert all(isinstance(one, EngineUnavailable | OutcomeUnknown) for one in results), results
            assert time.monotonic() - began_at < 10 * WITHIN_S
            self.folder.answer()

            async def again() -> Attempt | None:
                # An engine may still be at what it was asked for before.
                with suppress(EngineUnavailable):
                    return await bench.launch(role, attempt=1, volumes=(mount,))
                return None

            assert await bench.exit_code(await until(again)) == 0

        on_loop(check)(self, bench)


class TestPodmanWithAHungMount(HungMounts):
    @pytest.fixture(autouse=True)
    def _engine(self, podman: ContainerEngine) -> None:
        self.engine = podman


class TestDockerWithAHungMount(HungMounts):
    @pytest.fixture(autouse=True)
    def _engine(self, docker: ContainerEngine) -> None:
        self.engine = docker
