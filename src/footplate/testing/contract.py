"""The engine contract: what `engines.base` promises, as tests that every engine inherits.

A test class derives from `EngineContract`, or from `ProcessContract` when the engine runs real commands,
and says how its engine is made. The number in a test's name is that of the guarantee.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.attempt import Attempt
from footplate.domain.spec import RoleSpec
from footplate.domain.states import TaskState
from footplate.engines.base import Engine, GivesHints, OffersNodes, OpensStreams, PlacesItself, StagesData
from footplate.home.layout import code_folder, work_folder
from footplate.testing.engine_bench import Bench, on_loop, until, upload
from footplate.testing.limit_contract import LimitContract
from footplate.testing.stream_contract import StreamContract

RUNS_LONG = "sleep 600"


class EngineContract:
    """What holds for every engine; commands are only `exit N` and `sleep N`."""

    def make_engine(self, home: Path) -> Engine:
        raise NotImplementedError

    def run_loop(self, main: Coroutine[Any, Any, None]) -> None:
        asyncio.run(main)

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        return Bench(lambda: self.make_engine(tmp_path), tmp_path)

    @on_loop
    async def test_a_request_is_json(self, bench: Bench) -> None:
        request = bench.compile(RoleSpec("exit 0", count=2))
        assert json.loads(json.dumps(request)) == request

    @on_loop
    async def test_compiling_starts_nothing(self, bench: Bench) -> None:
        before = list(bench.folder.iterdir())
        request = bench.compile("exit 0")
        assert (await bench.see_one(bench.attempt_of(request))).state is TaskState.WAITING
        assert list(bench.folder.iterdir()) == before

    @on_loop
    async def test_exit_codes_are_reported(self, bench: Bench) -> None:
        for attempt, code in enumerate((0, 3, 255)):
            launched = await bench.launch(f"exit {code}", attempt=attempt)
            assert await bench.exit_code(launched) == code

    @on_loop
    async def test_a_running_task_is_seen_with_its_start(self, bench: Bench) -> None:
        seen = await bench.see_one(await bench.launch(RUNS_LONG))
        assert seen.state is TaskState.RUNNING
        assert seen.started_at is not None
        assert seen.finished_at is None

    @on_loop
    async def test_an_ended_task_has_its_times(self, bench: Bench) -> None:
        (seen,) = await bench.until_over(await bench.launch("exit 0"))
        assert seen.started_at is not None
        assert seen.finished_at is not None
        assert seen.started_at <= seen.finished_at

    @on_loop
    async def test_all_tasks_of_all_roles_are_started(self, bench: Bench) -> None:
        launched = await bench.launch(RoleSpec("exit 1", "ps", 2), RoleSpec("exit 2", "worker", 3))
        codes = {(one.role, one.index): one.exit_code for one in await bench.until_over(launched)}
        assert codes == {
            ("ps", 0): 1,
            ("ps", 1): 1,
            ("worker", 0): 2,
            ("worker", 1): 2,
            ("worker", 2): 2,
        }

    @on_loop
    async def test_1_a_second_launch_starts_nothing_new(self, bench: Bench) -> None:
        first = await bench.launch(RUNS_LONG)
        started_at = (await bench.see_one(first)).started_at
        assert await bench.launch(RUNS_LONG) == first
        assert (await bench.see_one(first)).started_at == started_at

    @on_loop
    async def test_1_a_launch_after_the_end_starts_nothing_new(self, bench: Bench) -> None:
        (before,) = await bench.until_over(await bench.launch("exit 3"))
        launched = await bench.launch("exit 3")
        assert await bench.see(launched) == [before]

    @on_loop
    async def test_2_stop_of_an_unknown_attempt_is_silent(self, bench: Bench) -> None:
        request = bench.compile(RUNS_LONG)
        await bench.engine.stop(bench.attempt_of(request), grace_s=5)

    @on_loop
    async def test_2_stop_before_launch_keeps_the_attempt_from_starting(self, bench: Bench) -> None:
        request = bench.compile(RUNS_LONG)
        launched = bench.attempt_of(request)
        await bench.engine.stop(launched, grace_s=5)
        await bench.engine.launch(request)
        seen = await bench.see_one(launched)
        assert (seen.state, seen.exit_code, seen.started_at) == (TaskState.EXITED, 143, None)

    @on_loop
    async def test_2_stop_ends_the_attempt_for_good(self, bench: Bench) -> None:
        launched = await bench.launch(RoleSpec(RUNS_LONG, count=2))
        await bench.engine.stop(launched, grace_s=20)
        assert {(one.state, one.exit_code) for one in await bench.see(launched)} == {(TaskState.EXITED, 143)}
        before = await bench.see(launched)
        await bench.launch(RoleSpec(RUNS_LONG, count=2))
        assert await bench.see(launched) == before

    @on_loop
    async def test_2_stop_leaves_other_attempts_alone(self, bench: Bench) -> None:
        stopped = await bench.launch(RUNS_LONG, attempt=0)
        kept = await bench.launch(RUNS_LONG, attempt=1)
        await bench.engine.stop(stopped, grace_s=20)
        assert (await bench.see_one(kept)).state is TaskState.RUNNING

    @on_loop
    async def test_2_stop_after_the_end_keeps_the_exit_code(self, bench: Bench) -> None:
        launched = await bench.launch("exit 3")
        await bench.until_over(launched)
        await bench.engine.stop(launched, grace_s=5)
        assert await bench.exit_code(launched) == 3

    @on_loop
    async def test_3_what_was_never_launched_is_waiting_not_lost(self, bench: Bench) -> None:
        request = bench.compile(RUNS_LONG)
        assert (await bench.see_one(bench.attempt_of(request))).state is TaskState.WAITING

    @on_loop
    async def test_4_launch_and_observe_return_while_the_task_runs(self, bench: Bench) -> None:
        async with asyncio.timeout(10):
            launched = await bench.launch(RUNS_LONG)
            assert (await bench.see_one(launched)).state is TaskState.RUNNING

    @on_loop
    async def test_5_a_restarted_server_finds_attempts_by_their_names(self, bench: Bench) -> None:
        ended = await bench.launch("exit 4", attempt=0)
        await bench.until_over(ended)
        running = await bench.launch(RUNS_LONG, attempt=1)
        started_at = (await bench.see_one(running)).started_at
        await bench.restart()
        assert await bench.exit_code(ended) == 4
        adopted = await bench.see_one(running)
        assert (adopted.state, adopted.started_at) == (TaskState.RUNNING, started_at)
        await bench.engine.stop(running, grace_s=20)
        assert await bench.exit_code(running) == 143

    @on_loop
    async def test_capabilities_agree_with_abilities(self, bench: Bench) -> None:
        engine = bench.engine
        assert engine.capabilities.streams == isinstance(engine, OpensStreams)
        assert engine.capabilities.stages == isinstance(engine, StagesData)
        assert engine.capabilities.places_itself == isinstance(engine, PlacesItself)
        assert engine.capabilities.places_itself != isinstance(engine, OffersNodes)

    @on_loop
    async def test_an_end_is_hinted(self, bench: Bench) -> None:
        if not isinstance(bench.engine, GivesHints):
            pytest.skip("this engine gives no hints")
        launched = await bench.launch("exit 0")

        async def hinted() -> bool | None:
            await bench.see(launched)
            return launched.id in bench.hints or None

        await until(hinted)

    @on_loop
    async def test_nodes_have_something_to_give(self, bench: Bench) -> None:
        if not isinstance(bench.engine, OffersNodes):
            pytest.skip("this engine offers no nodes")
        for node in await bench.engine.nodes():
            assert node.name
            assert node.milli_cpus > 0
            assert node.memory_bytes > 0


# Prints when it is ready, and saves its work when it is asked to end.
SAVES_ON_TERM = "trap 'sleep 0.3; echo saved; exit 0' TERM; echo ready; while true; do sleep 0.05; done"
# Runs until somebody writes an exit code to the file `go` in its folder.
WAITS_FOR_GO = "echo ready; until [ -s go ]; do sleep 0.02; done; exit $(cat go)"
# Leaves its parent, its group and its session, and ignores the polite signal.
DAEMON = "setsid sh -c 'trap \"\" TERM HUP INT; echo $$ >daemon; sleep 600 & wait; sleep 600' & "


def let_go(bench: Bench, launched: Attempt, code: int) -> None:
    (work_folder(bench.task(launched)) / "go").write_text(str(code))


class ProcessContract(LimitContract, StreamContract, EngineContract):
    """What holds for every engine that runs real commands, and keeps logs in the task's folder."""

    def is_running(self, launched: Attempt, pid: int) -> bool:
        """Tell whether a process that a task of the attempt started still runs."""
        raise NotImplementedError

    @on_loop
    async def test_output_is_logged_byte_for_byte(self, bench: Bench) -> None:
        launched = await bench.launch(r"printf 'a\r\0\377\n'; printf 'no line end' >&2")
        await bench.until_over(launched)
        assert bench.log(launched) == b"a\r\0\xff\nno line end"

    @on_loop
    async def test_a_task_starts_in_its_work_folder_with_the_code(self, bench: Bench) -> None:
        code = bench.folder / "code"
        (code / "lib").mkdir(parents=True)
        (code / "lib" / "train.sh").write_text("pwd; echo trained >>result")
        launched = await bench.launch(RoleSpec("sh lib/train.sh", count=2), spec={"code": upload(code)})
        assert [one.exit_code for one in await bench.until_over(launched)] == [0, 0]
        for index in range(2):
            work = work_folder(bench.task(launched, index=index))
            assert bench.log(launched, index=index).decode() == f"{work}\n"
            assert (work / "result").read_text() == "trained\n"
        assert not (code_folder(bench.home, launched.job_id) / "result").exists()

    @on_loop
    async def test_the_environment_is_the_tasks_and_nothing_of_the_servers(self, bench: Bench) -> None:
        role = RoleSpec("env", "worker", 2, env={"GREETING": "hello ${{ parameters.name }}"})
        launched = await bench.launch(role, spec={"parameters": {"name": "wörld"}}, gpus={"worker": (1, 3)})
        await bench.until_over(launched)
        env = dict(line.split("=", 1) for line in bench.log(launched, "worker", 1).decode().splitlines())
        assert env["GREETING"] == "hello wörld"
        assert env["RANK"] == "1"
        assert env["WORLD_SIZE"] == "2"
        assert env["MASTER_PORT"] == "40000"
        assert env["CUDA_VISIBLE_DEVICES"] == "1,3"
        assert "PYTEST_CURRENT_TEST" not in env

    @on_loop
    async def test_a_variable_of_a_task_means_nothing_to_whatever_runs_it(self, bench: Bench) -> None:
        names = ("folder", "groups", "log", "code", "counted", "keep", "stopping", "shell", "file", "tries")
        env = dict.fromkeys(names, "mine")
        command = f"echo {' '.join(f'${name}' for name in names)}; sleep 600 & exit 3"
        launched = await bench.launch(RoleSpec(command, env=env))
        assert await bench.exit_code(launched) == 3
        assert bench.log(launched).decode() == " ".join(["mine"] * len(names)) + "\n"

    @on_loop
    async def test_input_is_empty(self, bench: Bench) -> None:
        assert await bench.exit_code(await bench.launch("if read line; then exit 1; fi; exit 5")) == 5

    @on_loop
    async def test_a_command_ends_at_its_first_failing_line(self, bench: Bench) -> None:
        launched = await bench.launch("echo one\nfalse\necho two")
        assert await bench.exit_code(launched) == 1
        assert bench.log(launched) == b"one\n"

    @on_loop
    async def test_a_pipeline_fails_with_any_of_its_commands(self, bench: Bench) -> None:
        launched = await bench.launch("(echo trained; exit 3) | cat")
        assert await bench.exit_code(launched) == 3
        assert bench.log(launched) == b"trained\n"

    @on_loop
    async def test_death_by_a_signal_is_128_and_its_number(self, bench: Bench) -> None:
        for attempt, (command, code) in enumerate(
            {"kill -9 $$": 137, "kill -SEGV $$": 139, "kill -9 0": 137, "kill -TERM 0": 143}.items()
        ):
            launched = await bench.launch(command, attempt=attempt)
            assert await bench.exit_code(launched) == code, command
            assert bench.log(launched) == b""

    @on_loop
    async def test_signals_have_their_default_effect_in_tasks(self, bench: Bench) -> None:
        launched = await bench.launch("grep -E 'SigIgn|SigBlk' /proc/self/status")
        await bench.until_over(launched)
        # The C library keeps signals 32 and 33 to itself: nobody can change what a parent made of them.
        ours = ~(0b11 << 31)
        values = {int(line.split()[1], 16) & ours for line in bench.log(launched).splitlines()}
        assert values == {0}

    @on_loop
    async def test_1_two_launches_at_the_same_time_start_once(self, bench: Bench) -> None:
        await asyncio.gather(*(bench.launch(RoleSpec("echo once", count=3)) for _ in range(4)))
        launched = await bench.launch(RoleSpec("echo once", count=3))
        await bench.until_over(launched)
        assert [bench.log(launched, index=i) for i in range(3)] == [b"once\n"] * 3

    @on_loop
    async def test_2_a_task_may_use_its_grace(self, bench: Bench) -> None:
        launched = await bench.launch(SAVES_ON_TERM)
        await bench.until_logged(launched, b"ready")
        await bench.engine.stop(launched, grace_s=20)
        assert bench.log(launched).endswith(b"saved\n")
        assert await bench.exit_code(launched) == 0

    @on_loop
    async def test_2_a_program_behind_a_dying_shell_may_use_its_grace(self, bench: Bench) -> None:
        launched = await bench.launch(f"true\nbash -c {json.dumps(SAVES_ON_TERM)}\ntrue")
        await bench.until_logged(launched, b"ready")
        await bench.engine.stop(launched, grace_s=20)
        assert bench.log(launched).endswith(b"saved\n")

    @on_loop
    async def test_2_a_stubborn_task_is_killed_after_its_grace(self, bench: Bench) -> None:
        launched = await bench.launch("trap '' TERM; echo ready; while true; do sleep 0.05; done")
        await bench.until_logged(launched, b"ready")
        began_at = time.monotonic()
        await bench.engine.stop(launched, grace_s=0.5)
        assert 0.5 <= time.monotonic() - began_at < 5
        assert await bench.exit_code(launched) == 137

    @on_loop
    async def test_2_stop_returns_as_soon_as_the_task_is_gone(self, bench: Bench) -> None:
        launched = await bench.launch(RUNS_LONG)
        began_at = time.monotonic()
        await bench.engine.stop(launched, grace_s=30)
        assert time.monotonic() - began_at < 5

    @on_loop
    async def test_2_stop_ends_daemons_that_left_the_group(self, bench: Bench) -> None:
        launched = await bench.launch(f"{DAEMON} echo ready; sleep 600")
        daemon = await self._daemon(bench, launched)
        await bench.engine.stop(launched, grace_s=0.2)
        assert not self.is_running(launched, daemon)
        assert (await bench.see_one(launched)).state is TaskState.EXITED

    @on_loop
    async def test_2_stop_ends_a_suspended_task(self, bench: Bench) -> None:
        launched = await bench.launch("echo ready; kill -STOP $$; sleep 600")
        await bench.until_logged(launched, b"ready")
        await bench.engine.stop(launched, grace_s=20)
        assert await bench.exit_code(launched) == 143

    @on_loop
    async def test_2_stop_right_after_launch_ends_the_task(self, bench: Bench) -> None:
        for attempt in range(10):
            launched = await bench.launch(RUNS_LONG, attempt=attempt)
            await bench.engine.stop(launched, grace_s=20)
            (one,) = await bench.see(launched)
            assert (one.state, one.exit_code) in {(TaskState.EXITED, 143), (TaskState.EXITED, 137)}

    @on_loop
    async def test_2_stop_during_launch_leaves_nothing_running(self, bench: Bench) -> None:
        for attempt in range(10):
            request = bench.compile(RoleSpec(RUNS_LONG, count=3), attempt=attempt)
            launched = bench.attempt_of(request)
            launching = asyncio.create_task(bench.engine.launch(request))
            await asyncio.sleep(attempt / 2000)
            await bench.engine.stop(launched, grace_s=20)
            await launching
            assert {one.state for one in await bench.see(launched)} == {TaskState.EXITED}

    @on_loop
    async def test_what_a_task_leaves_behind_ends_with_it(self, bench: Bench) -> None:
        launched = await bench.launch(f"{DAEMON} until [ -s daemon ]; do sleep 0.01; done; exit 6")
        assert await bench.exit_code(launched) == 6
        assert not self.is_running(launched, await self._daemon(bench, launched))

    @on_loop
    async def test_5_an_exit_while_no_server_ran_is_learned(self, bench: Bench) -> None:
        launched = await bench.launch(WAITS_FOR_GO)
        await bench.until_logged(launched, b"ready")
        await bench.engine.close()
        let_go(bench, launched, 7)
        bench.open()
        assert await bench.exit_code(launched) == 7

    @on_loop
    async def test_5_the_end_of_an_adopted_task_is_hinted(self, bench: Bench) -> None:
        launched = await bench.launch(WAITS_FOR_GO)
        await bench.restart()
        assert (await bench.see_one(launched)).state is TaskState.RUNNING
        bench.hints.clear()
        let_go(bench, launched, 8)

        async def hinted() -> bool | None:
            return launched.id in bench.hints or None

        await until(hinted)
        assert (await bench.see_one(launched)).exit_code == 8

    async def _daemon(self, bench: Bench, launched: Attempt) -> int:
        async def find() -> int | None:
            path = work_folder(bench.task(launched)) / "daemon"
            text = path.read_text() if path.exists() else ""
            return int(text) if text.endswith("\n") else None

        return await until(find)
