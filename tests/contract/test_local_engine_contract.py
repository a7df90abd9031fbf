"""The local engine keeps the contract with real processes, also when its own ones are killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import psutil
import pytest
import uvloop

from footplate.domain.attempt import Attempt
from footplate.domain.errors import EngineRejected, EngineUnavailable
from footplate.domain.spec import RoleSpec
from footplate.domain.states import TaskState
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.observe.records import read_claim
from footplate.engines.local.process.processes import marked
from footplate.testing.contract import DAEMON, RUNS_LONG, WAITS_FOR_GO, ProcessContract, let_go
from footplate.testing.engine_bench import Bench, local_settings, on_loop, plan, upload
from footplate.testing.namespaced import has_process

LAUNCH_AND_DIE = """
import asyncio, json, os, signal, sys
from pathlib import Path
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.machine.settings import LocalSettings

async def main():
    await LocalEngine(LocalSettings(home=Path(sys.argv[1]))).launch(json.loads(sys.stdin.read()))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def shim_of(bench: Bench, launched: Any, index: int = 0) -> int:
    claim = read_claim(bench.task(launched, index=index))
    assert claim is not None
    assert claim.identity is not None
    return claim.identity.pid


def kill_spawner(engine: Any) -> None:
    os.kill(engine._processes._spawner.pid, signal.SIGKILL)


class TestLocalEngine(ProcessContract):
    """Where there is no `footplate-init`; on uvloop tasks are begun by it."""

    def make_engine(self, home: Path) -> LocalEngine:
        return LocalEngine(local_settings(home, is_native=False))

    def is_running(self, launched: Attempt, pid: int) -> bool:
        return has_process(pid, f"FOOTPLATE_ATTEMPT_ID={launched.id}".encode())

    @on_loop
    async def test_a_killed_server_loses_neither_tasks_nor_exit_codes(self, bench: Bench) -> None:
        request = bench.compile(WAITS_FOR_GO)
        server = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", LAUNCH_AND_DIE, str(bench.home)],
            input=json.dumps(request).encode(),
            check=False,
        )
        assert server.returncode == -signal.SIGKILL
        launched = bench.attempt_of(request)
        assert (await bench.see_one(launched)).state is TaskState.RUNNING
        let_go(bench, launched, 9)
        assert await bench.exit_code(launched) == 9

    @on_loop
    async def test_tasks_outlive_a_killed_spawner_and_new_ones_start(self, bench: Bench) -> None:
        first = await bench.launch(WAITS_FOR_GO, attempt=0)
        await bench.until_logged(first, b"ready")
        kill_spawner(bench.engine)
        second = await bench.launch("exit 2", attempt=1)
        assert await bench.exit_code(second) == 2
        let_go(bench, first, 3)
        assert await bench.exit_code(first) == 3

    @on_loop
    async def test_a_spawner_killed_during_launches_starts_every_task_once(self, bench: Bench) -> None:
        await bench.launch("true", attempt=99)
        roles = RoleSpec("echo once", count=5)
        launches = [asyncio.create_task(bench.launch(roles, attempt=attempt)) for attempt in range(8)]
        await asyncio.sleep(0.01)
        kill_spawner(bench.engine)
        for launched in await asyncio.gather(*launches):
            assert [one.exit_code for one in await bench.until_over(launched)] == [0] * 5
            assert [bench.log(launched, index=i) for i in range(5)] == [b"once\n"] * 5

    @on_loop
    async def test_a_spawner_that_was_stopped_is_replaced(self, bench: Bench) -> None:
        first = await bench.launch(WAITS_FOR_GO, attempt=0)
        await bench.until_logged(first, b"ready")
        spawner = bench.engine._processes._spawner.pid  # type: ignore[attr-defined]
        os.kill(spawner, signal.SIGSTOP)
        launches = [bench.launch("exit 2", attempt=attempt) for attempt in (1, 2)]
        for launched in await asyncio.gather(*launches):
            assert await bench.exit_code(launched) == 2
        assert not psutil.pid_exists(spawner)
        let_go(bench, first, 3)
        assert await bench.exit_code(first) == 3

    @on_loop
    async def test_3_a_task_whose_shim_was_killed_is_lost_and_leaves_nothing(self, bench: Bench) -> None:
        launched = await bench.launch(f"{DAEMON} echo ready; sleep 600")
        daemon = await self._daemon(bench, launched)
        os.kill(shim_of(bench, launched), signal.SIGKILL)
        (seen,) = await bench.until_over(launched)
        assert seen.state is TaskState.LOST
        assert seen.detail
        assert not self.is_running(launched, daemon)
        await bench.engine.stop(launched, grace_s=1)
        assert (await bench.see_one(launched)).state is TaskState.LOST

    @on_loop
    async def test_3_a_task_of_an_earlier_boot_is_lost(self, bench: Bench) -> None:
        launched = await bench.launch("exit 0")
        await bench.until_over(launched)
        folder = bench.task(launched)
        (folder / "exit").unlink()
        (folder / "pid").write_text(f"{os.getpid()} 1 another-boot\n")
        seen = await bench.see_one(launched)
        assert (seen.state, "restarted" in str(seen.detail)) == (TaskState.LOST, True)

    @on_loop
    async def test_3_a_number_that_passed_to_another_process_is_not_the_task(self, bench: Bench) -> None:
        launched = await bench.launch("exit 0")
        await bench.until_over(launched)
        folder = bench.task(launched)
        (folder / "exit").unlink()
        boot = (folder / "pid").read_text().split()[2]
        (folder / "pid").write_text(f"{os.getpid()} 1 {boot}\n")
        assert (await bench.see_one(launched)).state is TaskState.LOST

    @on_loop
    async def test_stop_of_a_task_whose_shim_is_killed_meanwhile_ends_everything(self, bench: Bench) -> None:
        launched = await bench.launch("trap '' TERM; echo ready; while true; do sleep 0.05; done")
        await bench.until_logged(launched, b"ready")
        stopping = asyncio.create_task(bench.engine.stop(launched, grace_s=20))
        await asyncio.sleep(0.05)
        os.kill(shim_of(bench, launched), signal.SIGKILL)
        await stopping
        assert list(marked([f"FOOTPLATE_ATTEMPT_ID={launched.id}"])) == []
        assert await bench.exit_code(launched) == 137

    @on_loop
    async def test_many_tasks_are_started_and_stopped_at_once(self, bench: Bench) -> None:
        launched = await bench.launch(RoleSpec(RUNS_LONG, count=100))
        assert {one.state for one in await bench.see(launched)} == {TaskState.RUNNING}
        await bench.engine.stop(launched, grace_s=20)
        assert {one.exit_code for one in await bench.see(launched)} == {143}

    @on_loop
    async def test_a_folder_that_cannot_be_made_is_an_engine_error(self, bench: Bench) -> None:
        request = bench.compile("true")
        folder = bench.task(bench.attempt_of(request)).parent
        folder.parent.mkdir(parents=True)
        folder.write_text("in the way")
        with pytest.raises(EngineUnavailable, match="attempt-0"):
            await bench.engine.launch(request)
        with pytest.raises(EngineUnavailable, match="attempt-0"):
            await bench.engine.stop(bench.attempt_of(request), grace_s=1)
        folder.unlink()

    @on_loop
    async def test_a_word_that_no_process_can_be_given_is_refused(self, bench: Bench) -> None:
        with pytest.raises(EngineRejected, match="command of role main is"):
            await bench.engine.launch(bench.compile(RoleSpec("true " + "é" * 70_000)))
        with pytest.raises(EngineRejected, match="LONG is"):
            await bench.engine.launch(bench.compile(RoleSpec("true", env={"LONG": "x" * 140_000})))

    @on_loop
    async def test_half_copied_code_is_copied_again(self, bench: Bench) -> None:
        code = bench.folder / "code"
        code.mkdir()
        (code / "a").write_text("a")
        request = bench.compile("ls", spec={"code": upload(code)})
        part = bench.task(bench.attempt_of(request)) / "work.part"
        part.mkdir(parents=True)
        (part / "stale").write_text("")
        launched = await bench.start(request)
        await bench.until_over(launched)
        assert bench.log(launched) == b"a\n"


class TestLocalEngineOnUvloop(TestLocalEngine):
    def make_engine(self, home: Path) -> LocalEngine:
        return LocalEngine(local_settings(home))

    def run_loop(self, main: Coroutine[Any, Any, None]) -> None:
        uvloop.run(main)


def test_tasks_find_the_servers_interpreter_first(tmp_path: Path) -> None:
    request = LocalEngine(local_settings(tmp_path, limits=False)).compile(plan(RoleSpec("python train.py")))
    assert request["env"]["PATH"].startswith(f"{sys.prefix}/bin:")


def test_tasks_with_a_view_find_one_that_takes_packages_before_it(tmp_path: Path) -> None:
    engine = LocalEngine(local_settings(tmp_path))
    if "files" not in engine.capabilities.limits:
        pytest.skip("this machine gives tasks no view of their own")
    path = engine.compile(plan(RoleSpec("python train.py")))["env"]["PATH"]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert path.startswith(f"{tmp_path}/python/{version}/bin:/tmp/.python/bin:{sys.prefix}/bin:")


def test_secrets_of_the_server_do_not_reach_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTPLATE_ADMIN_PASSWORD", "hush")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    request = LocalEngine(local_settings(tmp_path)).compile(plan(RoleSpec("true")))
    assert "hush" not in json.dumps(request)
