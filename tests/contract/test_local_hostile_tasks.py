"""Tasks that put links and pipes in the place of their own records harm themselves only."""

from __future__ import annotations

import asyncio
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from localbench import is_running

import footplate
from footplate.domain.errors import EngineUnavailable
from footplate.domain.states import TaskState
from footplate.engines.local.containers.settings import ContainerSettings
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.processes import boot_id, marked, start_ticks
from footplate.engines.local.settings import LocalSettings
from footplate.testing.engine_bench import Bench, on_loop, until


async def until_so(is_so: Callable[[], bool]) -> None:
    async def look() -> bool | None:
        return is_so() or None

    await until(look)


class TestHostileTasks:
    def run_loop(self, main: Any) -> None:
        asyncio.run(main)

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        return Bench(lambda: LocalEngine(LocalSettings(home=tmp_path)), tmp_path)

    @on_loop
    async def test_a_later_run_does_not_get_a_hidden_folder_as_its_tmp(self, bench: Bench) -> None:
        if "files" not in bench.engine.limits:
            pytest.skip("tasks have no view of their own here")
        hidden = bench.folder / "hidden"
        hidden.mkdir(mode=0o700)
        await bench.until_over(await bench.launch(f"mkdir ../run-1; ln -s {hidden} ../run-1/tmp; exit 1"))
        with pytest.raises(EngineUnavailable):
            await bench.launch("touch /tmp/reached", runs={("main", 0): 1})
        assert list(hidden.iterdir()) == []
        assert hidden.stat().st_mode & 0o777 == 0o700

    @on_loop
    async def test_a_pipe_in_place_of_the_log_does_not_hold_up_the_next_run(self, bench: Bench) -> None:
        await bench.until_over(await bench.launch("rm ../log; mkfifo ../log; exit 1"))
        async with asyncio.timeout(20):
            with pytest.raises(EngineUnavailable):
                await bench.launch("true", runs={("main", 0): 1})

    @on_loop
    async def test_a_task_that_removes_its_own_records_is_lost_and_not_waiting(self, bench: Bench) -> None:
        handle = await bench.launch("rm -rf ../*")
        (seen,) = await bench.until_over(handle)
        assert seen.state is TaskState.LOST
        assert (await bench.see_one(handle)).state is TaskState.LOST

    @on_loop
    async def test_a_forged_end_is_no_end_while_the_task_runs(self, bench: Bench) -> None:
        handle = await bench.launch("echo 0 >../exit; until [ -e go ]; do sleep 0.02; done; exit 7")
        await until_so((bench.task(handle) / "exit").exists)
        await bench.restart()
        assert (await bench.see_one(handle)).state is TaskState.RUNNING
        (bench.task(handle) / "work/go").touch()
        assert await bench.exit_code(handle) == 7

    @on_loop
    async def test_a_task_that_forges_both_its_records_does_not_run_on_for_long(self, bench: Bench) -> None:
        if "memory" not in bench.engine.limits:
            pytest.skip("tasks are in no control groups here")
        handle = await bench.launch("echo $$ >it; cp /dev/null ../pid; echo 0 >../exit; sleep 600")
        it = bench.task(handle) / "work/it"
        await until_so((bench.task(handle) / "exit").exists)
        pid = int(it.read_text())
        await bench.restart()
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        leftovers = engine._processes._leftovers
        leftovers._stray_after_s = 0
        await engine.nodes()
        await until_so(lambda: not is_running(pid))

    @on_loop
    async def test_no_task_can_speak_to_a_container_engine(self, bench: Bench) -> None:
        if "files" not in bench.engine.limits:
            pytest.skip("tasks have no view of their own here")
        folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(folder / "engine.sock"))
            listener.listen()
            settings = LocalSettings(
                home=bench.folder, containers=ContainerSettings(socket=f"{folder}/engine.sock")
            )
            await bench.engine.close()
            bench.engine = LocalEngine(settings)
            try:
                program = f"import socket; socket.socket(socket.AF_UNIX).connect('{folder}/engine.sock')"
                handle = await bench.launch(f'python3 -c "{program}"')
                assert await bench.exit_code(handle) == 1
                assert b"Connection refused" in bench.log(handle)
            finally:
                shutil.rmtree(folder)

    @on_loop
    async def test_no_task_can_change_the_programs_of_the_platform_or_the_machine(self, bench: Bench) -> None:
        if "files" not in bench.engine.limits:
            pytest.skip("tasks have no view of their own here")
        ours = Path(footplate.__file__)
        handle = await bench.launch(
            f"for one in {ours} {ours.parent}/new {sys.prefix}/new /etc/new /usr/new; do "
            'if (: >>"$one") 2>/dev/null; then echo "could write $one"; fi; done'
        )
        await bench.until_over(handle)
        assert bench.log(handle) == b""

    @on_loop
    async def test_a_pipe_in_place_of_the_exit_code_makes_nobody_wait(self, bench: Bench) -> None:
        handle = await bench.launch("mkfifo ../exit; kill -9 $PPID; sleep 600")
        async with asyncio.timeout(20):
            (one,) = await bench.until_over(handle)
        assert one.state is TaskState.LOST

    @on_loop
    async def test_a_link_to_itself_in_place_of_the_exit_code_is_no_end(self, bench: Bench) -> None:
        handle = await bench.launch("ln -s exit ../exit; kill -9 $PPID; sleep 600")
        (one,) = await bench.until_over(handle)
        assert one.state is TaskState.LOST
        await bench.engine.stop(handle, grace_s=0)

    @on_loop
    async def test_what_runs_inside_a_kept_task_ends_when_it_is_released(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile("exit 1", spec={"keep_on_failure_s": 600})
        handle = await engine.launch(request)
        await bench.until_over(handle)
        command = ["sh", "-c", "echo $$ >../in; trap '' TERM; sleep 600; sleep 600"]
        running = asyncio.create_task(engine.run_inside(request, "main", 0, command, timeout_s=600))

        async def begun() -> int | None:
            file = bench.task(handle) / "in"
            text = file.read_text() if file.exists() else ""
            return int(text) if text.endswith("\n") else None

        pid = await until(begun)
        await engine.stop(handle, grace_s=0)
        assert not is_running(pid)
        async with asyncio.timeout(20):
            assert (await running).exit_code == 137
        assert not list(bench.task(handle).glob("inside-*"))

    @on_loop
    async def test_a_claim_in_another_process_name_harms_nobody(self, bench: Bench) -> None:
        """Whoever restarts the server reads the claims again."""
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        with psutil.Popen(["sleep", "600"]) as victim:
            forged = f"{victim.pid} {start_ticks(victim.pid)} {boot_id()}"
            request = bench.compile(f"rm ../pid; echo {forged} >../pid; echo done; sleep 600")
            handle = await engine.launch(request)
            await bench.until_logged(handle, b"done")
            with pytest.raises(EngineUnavailable):
                await engine.run_inside(request, "main", 0, ["true"])
            await bench.restart()
            (one,) = await bench.until_over(handle)
            assert one.state is TaskState.LOST
            await bench.engine.stop(handle, grace_s=0)
            assert is_running(victim.pid)
            victim.kill()
        assert not list(marked([f"FOOTPLATE_ATTEMPT_ID={handle['attempt_id']}"]))
