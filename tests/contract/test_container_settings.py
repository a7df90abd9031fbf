"""Containers of another user, and in a network of their own."""

from __future__ import annotations

import httpx
import pytest
from containerbench import OfEngine

from footplate.domain.spec import RoleSpec
from footplate.domain.states import TaskState
from footplate.engines.local.containers.settings import ContainerSettings
from footplate.home.layout import code_folder, volume_folder
from footplate.testing import container_engine as engines
from footplate.testing.container_engine import ContainerEngine
from footplate.testing.engine_bench import Bench, on_loop, until, upload


class TestPodmanAsAnotherUser(OfEngine):
    """Containers of a user who is not the server's."""

    settings = ContainerSettings(user="65534:65533")

    @pytest.fixture(autouse=True)
    def _engine(self, podman: ContainerEngine) -> None:
        self.engine = podman

    @on_loop
    async def test_a_task_runs_as_that_user_and_may_write_to_its_folders(self, bench: Bench) -> None:
        code = bench.folder / "code"
        (code / "lib").mkdir(parents=True)
        (code / "lib" / "data").write_text("old")
        (code / "link").symlink_to("lib/data")
        command = "id -u; id -g; echo new >lib/data; touch result; touch $FOOTPLATE_OUTPUT_DIR/model"
        launched = await bench.launch(command, spec={"code": upload(code)})
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched) == b"65534\n65533\n"
        assert (volume_folder(bench.home, launched.job_id, "output") / "model").stat().st_uid == 65534
        assert (code_folder(bench.home, launched.job_id) / "lib" / "data").read_text() == "old"


class TestPodmanInANetworkOfItsOwn(OfEngine):
    """Containers that are not in the host's network."""

    settings = ContainerSettings(network="bridge")

    @pytest.fixture(autouse=True)
    def _engine(self, podman: ContainerEngine) -> None:
        self.engine = podman

    @on_loop
    async def test_the_ports_of_a_task_are_published_at_its_address(self, bench: Bench) -> None:
        role = RoleSpec("echo hello >index.html; httpd -f -p $FOOTPLATE_PORT_MAIN", image=engines.BUSYBOX)
        request = bench.compile(role)
        (port,) = request["tasks"][0]["ports"]
        launched = await bench.start(request)

        async def answered() -> str | None:
            try:
                async with httpx.AsyncClient() as client:
                    return (await client.get(f"http://127.0.0.1:{port}/")).text
            except httpx.TransportError:
                return None

        assert await until(answered) == "hello\n"
        assert (await bench.see_one(launched)).state is TaskState.RUNNING
