"""Packages on top of an image: built in a container of it, kept by the image's id, mounted read-only."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from containerbench import OfEngine, containers_of

from footplate.domain.attempt import Attempt
from footplate.domain.errors import EngineRejected, EngineUnavailable
from footplate.domain.spec import EnvironmentSpec
from footplate.engines.base import Step
from footplate.testing import python_image
from footplate.testing.container_engine import BUSYBOX, ContainerEngine, ContainerEngineMissing
from footplate.testing.engine_bench import Bench, on_loop, until, upload
from footplate.testing.packages import lock_project, make_source, make_wheel, running_index

IMPORTS = "python -c 'import tiny; print(\"tiny\", tiny.VERSION)'"
EVERYBODY: Any = type("Everybody", (), {"__contains__": lambda self, _: True})()
# A build that lasts until its inputs' folder of packages has a file `go`.
WAITS = """
import time
while not os.path.exists("{place}/go"):
    time.sleep(0.05)
"""
# Leaves behind what a build knows and what of the records it sees, and fails.
LOOKS = """
import glob, json
seen = {{"variables": sorted(os.environ), "records": glob.glob("{home}/**/records/**", recursive=True)}}
json.dump(seen, open(os.environ["UV_CACHE_DIR"] + "/seen.json", "w"))
raise SystemExit(1)
"""


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages, the only place from which anything is installed."""
    if not os.access("/var/lib", os.W_OK):
        pytest.skip("packages must lie where builds see them, and /var/lib is not writable")
    place = Path(tempfile.mkdtemp(prefix="footplate-packages-", dir="/var/lib"))
    place.chmod(0o755)
    make_wheel(place, "tiny")
    make_source(place, "slow", on_build=WAITS.format(place=place))
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    yield place
    shutil.rmtree(place)


def links() -> Path:
    return Path(os.environ["PIP_FIND_LINKS"])


def asking(*requirements: str, image: str = python_image.NAME, **more: Any) -> dict[str, Any]:
    return {"spec": {"image": image, "environment": EnvironmentSpec(requirements or ("tiny",), **more)}}


def steps_of(bench: Bench) -> list[Step]:
    steps: list[Step] = []
    bench.engine.on_step(steps.append)  # type: ignore[attr-defined]
    return steps


async def kept(bench: Bench) -> list[Any]:
    return list(await bench.engine.environments(EVERYBODY))  # type: ignore[attr-defined]


def records(bench: Bench) -> list[Path]:
    return list((bench.home / "environments").glob("*/in-images/records/*"))


class InImages(OfEngine):
    """What holds with every container engine."""

    def builds(self) -> list[dict[str, Any]]:
        found = self.engine.containers()
        return [one for one in found if one["Labels"].get("footplate.attempt", "").startswith("environment-")]

    async def until_building(self) -> None:
        async def look() -> bool | None:
            found = await asyncio.to_thread(self.builds)
            return any(one["State"] == "running" for one in found) or None

        await until(look)

    async def succeeds(self, bench: Bench, launched: Attempt) -> bytes:
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        return bench.log(launched)

    @on_loop
    async def test_packages_are_added_to_the_image_and_told_as_a_step(self, bench: Bench) -> None:
        steps = steps_of(bench)
        launched = await bench.launch(f"{IMPORTS}\ntiny", **asking())
        assert await self.succeeds(bench, launched) == b"tiny 1.0\nmain of tiny\n"
        assert [step.name for step in steps if step.is_done] == ["image", "environment", "container"]
        (built,) = await kept(bench)
        assert (built.owner, built.what, built.image) == ("ann", "tiny", python_image.NAME)
        assert built.attempts == (launched.id,)
        assert built.size_bytes > 0
        assert self.builds() == []

    @on_loop
    async def test_the_second_job_finds_it_and_one_of_another_image_does_not(self, bench: Bench) -> None:
        await self.succeeds(bench, await bench.launch(IMPORTS, **asking()))
        await bench.restart()
        steps = steps_of(bench)
        await self.succeeds(bench, await bench.launch(IMPORTS, attempt=1, **asking()))
        assert "the environment of tiny is there already" in [str(step.said) for step in steps]
        self.engine.load("localhost/other-python:1", python_image.with_python(), Labels={"other": "1"})
        other = asking(image="localhost/other-python:1")
        await self.succeeds(bench, await bench.launch(IMPORTS, attempt=2, **other))
        assert len(await kept(bench)) == 2

    @on_loop
    async def test_what_the_image_has_stays_unless_another_version_is_asked_for(self, bench: Bench) -> None:
        wheel, site = make_wheel(bench.folder / "w", "tiny", "0.9"), bench.folder / "site"
        shutil.unpack_archive(wheel, site, "zip")
        self.engine.load("localhost/has-tiny:1", python_image.with_python(site))
        make_wheel(links(), "more")
        has = {"image": "localhost/has-tiny:1"}
        launched = await bench.launch(f"{IMPORTS}; python -c 'import more'", **asking("tiny", "more", **has))
        assert await self.succeeds(bench, launched) == b"tiny 0.9\n"
        launched = await bench.launch(IMPORTS, attempt=1, **asking("tiny==1.0", **has))
        assert await self.succeeds(bench, launched) == b"tiny 1.0\n"

    @on_loop
    async def test_tasks_cannot_change_it(self, bench: Bench) -> None:
        command = f'touch "$VIRTUAL_ENV/mine" || {IMPORTS}; test "$PYTHONUSERBASE"; echo $PATH'
        said = await self.succeeds(bench, await bench.launch(command, **asking()))
        assert b"Read-only file system" in said
        assert b"tiny 1.0\n" in said
        # What the image itself says comes after the environment.
        assert said.endswith(b":/usr/sbin:/usr/bin:/sbin:/bin\n")

    @on_loop
    async def test_a_failed_build_says_what_pip_said_and_leaves_nothing(self, bench: Bench) -> None:
        steps = steps_of(bench)
        with pytest.raises(EngineRejected, match="No matching distribution found for no-such-package"):
            await bench.launch(IMPORTS, **asking("no-such-package"))
        assert str(steps[-1].said) == "the environment of no-such-package could not be built"
        assert records(bench) == []
        assert self.builds() == []

    @on_loop
    async def test_an_image_without_python_is_told(self, bench: Bench) -> None:
        with pytest.raises(EngineRejected, match="the image has no python3"):
            await bench.launch("true", **asking(image=BUSYBOX))

    @on_loop
    async def test_who_is_abandoned_ends_the_build(self, bench: Bench) -> None:
        launching = asyncio.create_task(bench.launch("true", **asking("slow")))
        await self.until_building()
        bench.engine.abandon(f"{bench.job_id}.0")  # type: ignore[attr-defined]
        with pytest.raises(EngineUnavailable, match="no longer needed"):
            await launching
        assert self.builds() == []
        assert records(bench) == []

    @on_loop
    async def test_a_build_outlives_the_server_and_is_waited_for_again(self, bench: Bench) -> None:
        wish = asking("slow")
        launching = asyncio.create_task(bench.launch("python -c 'import slow'", **wish))
        await self.until_building()
        (before,) = await asyncio.to_thread(self.builds)
        await bench.restart()
        with pytest.raises(EngineUnavailable):
            await launching
        # The sweep of the next server finds a container whose attempt nobody knows.
        await bench.engine.sweep(())  # type: ignore[attr-defined]
        launching = asyncio.create_task(bench.launch("python -c 'import slow'", **wish))
        await self.until_building()
        assert [one["Id"] for one in await asyncio.to_thread(self.builds)] == [before["Id"]]
        (links() / "go").touch()
        await self.succeeds(bench, await launching)

    @on_loop
    async def test_a_build_sees_nothing_of_the_job_and_cannot_vouch_for_itself(self, bench: Bench) -> None:
        make_source(links(), "curious", on_build=LOOKS.format(home=bench.home))
        wish = asking("curious")
        wish["spec"]["env"] = {"MINE": "job"}
        with pytest.raises(EngineRejected):
            await bench.launch("true", **wish)
        (seen,) = (bench.home / "environments").glob("*/in-images/files/cache/seen.json")
        look = json.loads(seen.read_text())
        assert "MINE" not in look["variables"]
        assert [name for name in look["records"] if name.endswith(".json")] == []

    @on_loop
    async def test_a_locked_project_is_installed_by_uv(self, bench: Bench) -> None:
        folder, packages = bench.folder / "code", bench.folder / "index"
        folder.mkdir()
        make_wheel(packages / "tiny", "tiny", "0.8")
        with running_index(packages) as index, pytest.MonkeyPatch.context() as patch:
            lock_project(folder, index, "tiny")
            make_wheel(packages / "tiny", "tiny", "0.9")
            patch.delenv("PIP_NO_INDEX")
            await bench.restart()
            project = EnvironmentSpec(pyproject="pyproject.toml")
            wish = {"image": python_image.NAME, "environment": project, "code": upload(folder)}
            launched = await bench.launch(IMPORTS, spec=wish)
            assert await self.succeeds(bench, launched) == b"tiny 0.8\n"

    @on_loop
    async def test_containers_of_ended_tasks_are_gone(self, bench: Bench) -> None:
        launched = await bench.launch("true", **asking())
        await self.succeeds(bench, launched)
        await bench.engine.stop(launched, 0)
        assert containers_of(self, launched) == []


@pytest.fixture(scope="module")
def image() -> bytes:
    try:
        return python_image.with_python()
    except ContainerEngineMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def podman_with_python(podman: ContainerEngine, image: bytes) -> ContainerEngine:
    podman.load(python_image.NAME, image)
    return podman


@pytest.fixture(scope="module")
def docker_with_python(docker: ContainerEngine, image: bytes) -> ContainerEngine:
    docker.load(python_image.NAME, image)
    return docker


class TestPodman(InImages):
    @pytest.fixture(autouse=True)
    def of_podman(self, podman_with_python: ContainerEngine) -> None:
        self.engine = podman_with_python


class TestDocker(InImages):
    @pytest.fixture(autouse=True)
    def of_docker(self, docker_with_python: ContainerEngine) -> None:
        self.engine = docker_with_python
