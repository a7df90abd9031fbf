"""What the tests of container engines share: an engine that runs all in images, and looks from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.attempt import Attempt
from footplate.engines.base import LaunchPlan, Request
from footplate.engines.local.containers.cards import grant_cards
from footplate.engines.local.containers.describing import describe, key_of
from footplate.engines.local.containers.folders import make_folders
from footplate.engines.local.containers.naming import container_name
from footplate.engines.local.containers.settings import ContainerSettings
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.observe.records import read_claim
from footplate.testing import container_engine as engines
from footplate.testing.container_engine import ContainerEngine
from footplate.testing.engine_bench import Bench, local_settings, until, volume
from footplate.testing.namespaced import has_process


class InContainers(LocalEngine):
    """Runs every job in an image of the host's own tools, where it names none."""

    def compile(self, plan: LaunchPlan) -> Request:
        if plan.spec.image or any(role.image for role in plan.spec.roles):
            return super().compile(plan)
        spec = replace(plan.spec, image=engines.HOST_TOOLS)
        tools = tuple(volume(Path(path), path) for path in ("/usr", "/etc/ld.so.cache"))
        return super().compile(replace(plan, spec=spec, volumes=(*plan.volumes, *tools)))


class OfEngine:
    """Tests of one container engine, which outlives them."""

    engine: ContainerEngine
    settings = ContainerSettings()
    home: Path

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        self.home = tmp_path / "home"
        self.home.mkdir()
        return Bench(self.make_engine, tmp_path, self.home)

    def run_loop(self, main: Coroutine[Any, Any, None]) -> None:
        asyncio.run(main)

    def make_engine(self) -> LocalEngine:
        containers = replace(self.settings, socket=str(self.engine.socket))
        return InContainers(local_settings(self.home, containers=containers))

    def is_running(self, launched: Attempt, pid: int) -> bool:
        """Tell whether a container of the attempt has a living process with this number of its own."""
        return has_process(pid, f"FOOTPLATE_ATTEMPT_ID={launched.id}".encode())


def create(tests: OfEngine, request: Request, *, start: bool, dev: Path | None = None) -> None:
    """Do what a server did before it was killed in the middle of a launch."""
    with tests.engine.client() as client:
        info = client.get("/info").json()
        make_folders(request, request["tasks"], "")
        for task in request["tasks"]:
            name = container_name(key_of(request, task))
            body = describe(request, task, info, local_settings(tests.home))
            if dev is not None:
                body["HostConfig"].update(grant_cards(task["gpus"], info, dev, cdi=()))
            client.post("/containers/create", params={"name": name}, json=body).raise_for_status()
            if start:
                client.post(f"/containers/{name}/start").raise_for_status()


def containers_of(tests: OfEngine, launched: Attempt) -> list[dict[str, Any]]:
    found = tests.engine.containers()
    return [one for one in found if one["Labels"].get("footplate.attempt") == launched.id]


async def until_removed(tests: OfEngine, launched: Attempt) -> None:
    async def look() -> bool | None:
        return not await asyncio.to_thread(containers_of, tests, launched) or None

    await until(look)


def first_process(bench: Bench, launched: Attempt) -> int:
    claim = read_claim(bench.task(launched))
    assert claim is not None
    assert claim.identity is not None
    return claim.identity.pid
