"""The local engine keeps the contract with real containers of Podman and Docker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.engines.base import LaunchPlan, Mount, Request
from footplate.engines.local.containers.settings import ContainerSettings
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.settings import LocalSettings
from footplate.testing import container_engine as engines
from footplate.testing.container_engine import ContainerEngine, ContainerEngineMissing
from footplate.testing.contract import ProcessContract


@pytest.fixture(scope="module")
def podman() -> Iterator[ContainerEngine]:
    try:
        with engines.running_podman() as engine:
            _load_images(engine)
            yield engine
    except ContainerEngineMissing as error:
        pytest.skip(str(error))


def _load_images(engine: ContainerEngine) -> None:
    engine.load(engines.HOST_TOOLS, engines.host_tools())
    engine.load(engines.BUSYBOX, engines.busybox())
    engine.load(engines.NO_SHELL, engines.no_shell())


class InContainers(LocalEngine):
    """Runs every job in an image of the host's own tools, where it names none."""

    def compile(self, plan: LaunchPlan) -> Request:
        spec = plan.spec if plan.spec.image else replace(plan.spec, image=engines.HOST_TOOLS)
        tools = tuple(Mount(Path(path), Path(path)) for path in ("/usr", "/etc/ld.so.cache"))
        return super().compile(replace(plan, spec=spec, mounts=(*plan.mounts, *tools)))


class TestPodman(ProcessContract):
    @pytest.fixture(autouse=True)
    def _engine(self, podman: ContainerEngine) -> None:
        self.engine = podman

    def make_engine(self) -> LocalEngine:
        return InContainers(LocalSettings(containers=ContainerSettings(str(self.engine.socket))))

    def is_running(self, pid: int) -> bool:
        """Tell whether some container has a living process with this number of its own."""
        return any(_inner_pid(folder) == pid for folder in Path("/proc").iterdir() if folder.name.isdecimal())


def _inner_pid(process: Path) -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        is_ours = b"FOOTPLATE_JOB_NAME=contract" in (process / "environ").read_bytes()
    except OSError:
        return None
    pids = lines["NSpid"].split()
    return int(pids[-1]) if is_ours and len(pids) > 1 and lines["State"].strip()[0] != "Z" else None
