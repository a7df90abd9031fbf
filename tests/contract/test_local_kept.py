"""Contract of the local engine: the folders that the server keeps for people, as tasks write to them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from localbench import WithEngine

from footplate.domain.storage import Storage, Volume
from footplate.engines.local.confine.accounts import FIRST_ID, N_IDS
from footplate.engines.local.engine import LocalEngine
from footplate.storages.folder import FolderFiles
from footplate.testing.engine_bench import Bench, local_settings, on_loop

HOME = Volume("home", "", "/fp-home", read_only=False)
SHARED = Volume("shared", "", "/fp-shared", read_only=False)
ANN, BOB = FIRST_ID + N_IDS, FIRST_ID + 2 * N_IDS


def kept(name: str, folder: Path, *, is_per_user: bool) -> Storage:
    return Storage(name, str(folder / "storages" / name), read_only=False, per_user=is_per_user, is_own=True)


class TestKept(WithEngine):
    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        storages = {
            "home": kept("home", tmp_path, is_per_user=True),
            "shared": kept("shared", tmp_path, is_per_user=False),
        }
        settings = replace(local_settings(tmp_path), storages=storages)
        return Bench(lambda: LocalEngine(settings), tmp_path)

    def folder(self, bench: Bench, name: str) -> Path:
        folder = bench.folder / "storages" / name
        folder.mkdir(mode=0o700, parents=True)
        if bench.engine.capabilities.no_mounts:
            pytest.skip("nothing can be mounted for tasks here")
        return folder

    async def run(
        self, bench: Bench, command: str, *volumes: Volume, of: str = "ann", attempt: int = 0
    ) -> str:
        number = {"ann": 1, "bob": 2}[of]
        launched = await bench.launch(
            command, volumes=volumes, owner=of, owner_number=number, attempt=attempt
        )
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        return bench.log(launched).decode()

    def belongs_to(self, bench: Bench, folder: Path, account: int) -> None:
        if "accounts" in bench.engine.capabilities.limits:
            owners = {path.lstat().st_uid for path in (folder, *folder.rglob("*"))}
            assert owners == {account}
        else:
            assert folder.stat().st_uid == os.geteuid()

    @on_loop
    async def test_tasks_change_what_their_owner_has_uploaded(self, bench: Bench) -> None:
        mine = self.folder(bench, "home/ann-1")
        (mine / "earlier/deep").mkdir(parents=True)
        (mine / "earlier/deep/x").write_text("uploaded\n")
        said = await self.run(bench, "cat /fp-home/earlier/deep/x; echo more >>/fp-home/earlier/deep/x", HOME)
        assert said == "uploaded\n"
        assert (mine / "earlier/deep/x").read_text() == "uploaded\nmore\n"
        self.belongs_to(bench, mine, ANN)

    @on_loop
    async def test_what_the_server_adds_later_tasks_can_change_too(self, bench: Bench) -> None:
        mine = self.folder(bench, "home/ann-1")
        await self.run(bench, "echo first >/fp-home/x", HOME)
        files = FolderFiles(mine, is_own=True)
        files.make_folder("later")
        with files.batch() as batch:
            batch.write("later/y", b"uploaded\n", is_executable=False)
        await self.run(bench, "echo more >>/fp-home/later/y; rm /fp-home/x", HOME, attempt=1)
        assert (mine / "later/y").read_text() == "uploaded\nmore\n"
        assert [entry.name for entry in files.page("", "", 10).entries] == ["later"]

    @on_loop
    async def test_nobody_reaches_the_folder_of_somebody_else(self, bench: Bench) -> None:
        mine, _theirs = self.folder(bench, "home/ann-1"), self.folder(bench, "home/bob-2")
        await self.run(bench, "echo secret >/fp-home/x; chmod 777 /fp-home /fp-home/x", HOME)
        command = (
            f"ls -A /fp-home; cat {mine}/x && exit 1; cat /fp-home/../ann-1/x && exit 1; "
            "ln -s ../ann-1/x /fp-home/link; cat /fp-home/link && exit 1; exit 0"
        )
        assert "secret" not in await self.run(bench, command, HOME, of="bob", attempt=1)

    @on_loop
    async def test_everybody_changes_what_is_shared(self, bench: Bench) -> None:
        folder = self.folder(bench, "shared")
        await self.run(bench, "umask 077; mkdir /fp-shared/dir; echo ann >/fp-shared/dir/x", SHARED)
        reads = replace(SHARED, read_only=True)
        assert await self.run(bench, "cat /fp-shared/dir/x", reads, of="bob", attempt=1) == "ann\n"
        await self.run(bench, "echo bob >>/fp-shared/dir/x", SHARED, of="bob", attempt=2)
        assert (folder / "dir/x").read_text() == "ann\nbob\n"
        self.belongs_to(bench, folder, FIRST_ID)

    @on_loop
    async def test_what_root_wrote_in_a_container_is_their_owners_again(self, bench: Bench) -> None:
        mine = self.folder(bench, "home/ann-1")
        await self.run(bench, "true", HOME)
        request = bench.compile("true", volumes=(HOME,), owner_number=1)
        in_image = {**request, "tasks": [{**task, "in_container": True} for task in request["tasks"]]}
        bench.engine._confinement.hand_over(in_image)  # type: ignore[attr-defined]
        (mine / "by-root").write_text("from a container\n")
        await self.run(bench, "echo more >>/fp-home/by-root", HOME, attempt=1)
        assert (mine / "by-root").read_text() == "from a container\nmore\n"
