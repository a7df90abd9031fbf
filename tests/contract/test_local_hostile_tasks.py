"""A task can do nothing to the records of its own start and end, and harms itself only."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from localbench import is_running, seen_from_outside, shim_of

import footplate
from footplate.domain.errors import EngineUnavailable
from footplate.domain.states import TaskState
from footplate.engines.local.containers.settings import ContainerSettings
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.process.exec import commands_in
from footplate.engines.local.process.processes import boot_id, descendants, marked, start_ticks
from footplate.engines.streams import run
from footplate.testing.engine_bench import Bench, local_settings, on_loop, until

MISCHIEF = (
    "rm -rf ../*",
    "rm ../pid",
    "mkdir ../run-1",
    "rm ../log; mkfifo ../log",
    "echo 0 >../exit",
    "rm -f ../exit; mkfifo ../exit",
    "rm -f ../exit; ln -s exit ../exit",
    "mv ../../main-0 ../../other",
    "chmod 000 ..",
)


async def until_so(is_so: Callable[[], bool]) -> None:
    async def look() -> bool | None:
        return is_so() or None

    await until(look)


class TestHostileTasks:
    def run_loop(self, main: Any) -> None:
        asyncio.run(main)

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        return Bench(lambda: LocalEngine(local_settings(tmp_path)), tmp_path)

    @on_loop
    async def test_no_task_can_change_the_records_of_its_start_and_end(self, bench: Bench) -> None:
        if "files" not in bench.engine.capabilities.limits:
            pytest.skip("tasks have no view of their own here")
        tries = "; ".join(f"({mischief}) 2>/dev/null && echo did '{mischief}'" for mischief in MISCHIEF)
        launched = await bench.launch(f"{tries}; echo tried; until [ -e go ]; do sleep 0.02; done; exit 7")
        log = await bench.until_logged(launched, b"tried\n")
        assert log == b"tried\n"
        await bench.restart()
        assert (await bench.see_one(launched)).state is TaskState.RUNNING
        (bench.task(launched) / "work/go").touch()
        assert await bench.exit_code(launched) == 7

    @on_loop
    async def test_a_link_in_place_of_a_folder_of_the_task_is_not_followed(self, bench: Bench) -> None:
        """Where tasks run as the server's own account, an earlier version may have left such a thing."""
        hidden = bench.folder / "hidden"
        hidden.mkdir(mode=0o700)
        await bench.until_over(await bench.launch("exit 1"))
        folder = bench.task(await bench.launch("exit 1"))
        (folder / "run-1").mkdir()
        (folder / "run-1/tmp").symlink_to(hidden)
        if "files" in bench.engine.capabilities.limits:
            with pytest.raises(EngineUnavailable):
                await bench.launch("touch /tmp/reached", runs={("main", 0): 1})
        assert list(hidden.iterdir()) == []
        assert hidden.stat().st_mode & 0o777 == 0o700

    @on_loop
    async def test_a_pipe_in_place_of_the_log_does_not_hold_up_the_next_run(self, bench: Bench) -> None:
        launched = await bench.launch("exit 1")
        await bench.until_over(launched)
        shutil.move(bench.task(launched) / "log", bench.task(launched) / "log.old")
        os.mkfifo(bench.task(launched) / "log")
        async with asyncio.timeout(20):
            with pytest.raises(EngineUnavailable):
                await bench.launch("true", runs={("main", 0): 1})

    @on_loop
    async def test_a_task_whose_records_are_gone_is_lost_and_not_waiting(self, bench: Bench) -> None:
        launched = await bench.launch("until [ -e go ]; do sleep 0.02; done")
        for name in ("pid", "exit"):
            (bench.task(launched) / name).unlink(missing_ok=True)
        (bench.task(launched) / "work/go").touch()
        (seen,) = await bench.until_over(launched)
        assert seen.state is TaskState.LOST
        assert (await bench.see_one(launched)).state is TaskState.LOST

    @on_loop
    async def test_no_task_can_speak_to_a_container_engine(self, bench: Bench) -> None:
        if "files" not in bench.engine.capabilities.limits:
            pytest.skip("tasks have no view of their own here")
        folder = Path(tempfile.mkdtemp(dir="/opt" if os.access("/opt", os.W_OK) else "/var/tmp"))
        folder.chmod(0o755)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(folder / "engine.sock"))
            (folder / "engine.sock").chmod(0o777)
            listener.listen()
            settings = local_settings(
                bench.folder, containers=ContainerSettings(socket=f"{folder}/engine.sock")
            )
            await bench.engine.close()
            bench.engine = LocalEngine(settings)
            try:
                program = f"import socket; socket.socket(socket.AF_UNIX).connect('{folder}/engine.sock')"
                launched = await bench.launch(f'python3 -c "{program}"')
                assert await bench.exit_code(launched) == 1
                assert b"Connection refused" in bench.log(launched) or b"No such file" in bench.log(launched)
            finally:
                shutil.rmtree(folder)

    @on_loop
    async def test_no_task_can_change_the_programs_of_the_platform_or_the_machine(self, bench: Bench) -> None:
        if "files" not in bench.engine.capabilities.limits:
            pytest.skip("tasks have no view of their own here")
        ours = Path(footplate.__file__)
        launched = await bench.launch(
            f"for one in {ours} {ours.parent}/new {sys.prefix}/new /etc/new /usr/new; do "
            'if (: >>"$one") 2>/dev/null; then echo "could write $one"; fi; done'
        )
        await bench.until_over(launched)
        assert bench.log(launched) == b""

    @on_loop
    async def test_what_runs_inside_a_kept_task_ends_when_it_is_released(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile("exit 1", spec={"keep_on_failure_s": 600})
        launched = await bench.start(request)
        await bench.until_over(launched)
        command = ["sh", "-c", "echo $$ >in; trap '' TERM; sleep 600; sleep 600"]
        running = asyncio.create_task(run(engine, request, "main", 0, command, timeout_s=600))

        async def begun() -> int | None:
            file = bench.task(launched) / "work/in"
            text = file.read_text() if file.exists() else ""
            return int(text) if text.endswith("\n") else None

        inner = await until(begun)
        (shim,) = commands_in(bench.task(launched))
        pid = seen_from_outside(shim.pid, inner)
        await engine.stop(launched, grace_s=0)
        assert not is_running(pid)
        async with asyncio.timeout(20):
            assert (await running).exit_code == 137
        assert not list(bench.task(launched).glob("exec-*"))

    @on_loop
    async def test_a_copy_of_a_home_neither_adopts_nor_harms_the_tasks_of_the_original(
        self, bench: Bench
    ) -> None:
        await bench.engine.close()
        bench.engine = LocalEngine(local_settings(bench.folder, home_id="original"))
        request = bench.compile("echo ready; sleep 600")
        launched = await bench.start(request)
        await bench.until_logged(launched, b"ready")
        copy = LocalEngine(local_settings(bench.folder, home_id="copy"))
        try:
            (seen,) = await copy.observe([launched])
            assert seen.state is TaskState.LOST
            with pytest.raises(EngineUnavailable):
                await run(copy, request | {"home_id": "copy"}, "main", 0, ["true"])
            await copy.stop(launched, grace_s=0)
            await copy.nodes()
        finally:
            await copy.close()
        assert (await bench.see_one(launched)).state is TaskState.RUNNING
        assert is_running(shim_of(bench, launched))

    @on_loop
    async def test_a_claim_in_another_process_name_harms_nobody(self, bench: Bench) -> None:
        """Whoever restarts the server reads the claims again."""
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        with psutil.Popen(["sleep", "600"]) as victim:
            forged = f"{victim.pid} {start_ticks(victim.pid)} {boot_id()}\n"
            request = bench.compile("echo done; sleep 600")
            launched = await bench.start(request)
            await bench.until_logged(launched, b"done")
            mine = [shim_of(bench, launched), *descendants(shim_of(bench, launched))]
            (bench.task(launched) / "pid").write_text(forged)
            with pytest.raises(EngineUnavailable):
                await run(engine, request, "main", 0, ["true"])
            await bench.restart()
            (one,) = await bench.until_over(launched)
            assert one.state is TaskState.LOST
            await bench.engine.stop(launched, grace_s=0)
            assert is_running(victim.pid)
            victim.kill()
        assert not list(marked([f"FOOTPLATE_ATTEMPT_ID={launched.id}"]))
        await until_so(lambda: not any(map(is_running, mine)))
