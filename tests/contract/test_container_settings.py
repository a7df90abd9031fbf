"""Containers of another user, and in a network of their own."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest
from containerbench import InContainers, OfEngine

from footplate.domain.spec import RoleSpec
from footplate.domain.states import TaskState
from footplate.domain.storage import Storage, Volume
from footplate.engines.local.containers.settings import ContainerSettings
from footplate.engines.local.engine import LocalEngine
from footplate.home.layout import code_folder, volume_folder
from footplate.storages.folder import FolderFiles
from footplate.testing import container_engine as engines
from footplate.testing.container_engine import ContainerEngine
from footplate.testing.engine_bench import Bench, Folders, local_settings, on_loop, until, upload


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


class TestPodmanWithTheFoldersOfPeople(OfEngine):
    """Containers that are given what the server keeps for their owner."""

    @pytest.fixture(autouse=True)
    def _engine(self, podman: ContainerEngine) -> None:
        self.engine = podman

    def make_engine(self) -> LocalEngine:
        path = str(self.home / "storages/home")
        self.storage = Storage("home", path, read_only=False, per_user=True, is_own=True)
        containers = replace(self.settings, socket=str(self.engine.socket))
        settings = local_settings(self.home, containers=containers)
        engine = InContainers(replace(settings, storages=Folders(home=self.storage)))
        engine.use_storages(self.find)
        return engine

    async def find(self, _attempt_id: str, _name: str) -> tuple[Storage, FolderFiles]:
        return self.storage, FolderFiles(self.home / "storages/home/ann-1")

    @on_loop
    async def test_a_task_writes_to_all_of_it_and_reads_a_copy_of_a_part(self, bench: Bench) -> None:
        mine = self.home / "storages/home/ann-1"
        (mine / "set").mkdir(parents=True)
        (mine / "set/x").write_text("uploaded\n")
        mounts = (
            Volume("home", "", "/fp-home", read_only=False),
            Volume("home", "set", "/fp-set"),
        )
        command = "cat /fp-set/x; echo more >>/fp-home/set/x; touch /fp-set/y && exit 1; cat /fp-set/x"
        launched = await bench.launch(command, volumes=mounts, owner_number=1)
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched).count(b"uploaded\n") == 2
        assert (mine / "set/x").read_text() == "uploaded\nmore\n"


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
