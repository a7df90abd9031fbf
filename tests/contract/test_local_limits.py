"""Tasks of the local engine are held to their limits, and leave nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from localbench import WithEngine, groups, is_running, shim_of, until_no_groups

from footplate.domain.errors import EngineRejected, NotFound
from footplate.domain.messages import say
from footplate.domain.resources import MIB, Resources
from footplate.domain.spec import RoleSpec
from footplate.domain.states import TaskState
from footplate.engines.local.confine.confinement import Confinement, confine
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.observe.records import read_exit
from footplate.engines.local.observe.stacks import find_spy
from footplate.engines.streams import run
from footplate.testing.contract import RUNS_LONG
from footplate.testing.engine_bench import Bench, local_settings, on_loop, until, volume
from footplate.testing.limit_contract import GROW
from footplate.testing.process import await_that

# Leaves session, group and parent, and takes its environment off, so that no mark is left on it.
SCRUBBED = "setsid env -i sh -c 'trap \"\" TERM HUP INT; echo $$ >daemon; while :; do sleep 0.1; done' & "


class TestLimits(WithEngine):
    settings = MappingProxyType({"n_processes": 24})

    @on_loop
    async def test_the_number_of_processes_is_bounded(self, bench: Bench) -> None:
        self.needs(bench, "processes")
        launched = await bench.launch("for i in $(seq 60); do sleep 5 & done; wait")
        assert await bench.exit_code(launched) not in (0, None)
        assert b"fork" in bench.log(launched)

    @on_loop
    async def test_what_explains_an_end_is_in_its_record_before_the_groups_are_removed(
        self, bench: Bench
    ) -> None:
        self.needs(bench, "memory")
        launched = await bench.launch(GROW, resources=Resources(1000, 64 * MIB))
        await bench.until_over(launched)
        await until_no_groups(bench)
        end = read_exit(bench.task(launched))
        assert end is not None
        assert (end.code, end.limit_bytes) == (137, 64 * MIB)
        assert end.n_oom_kills > 0
        assert end.peak_bytes is not None
        assert end.cpu_s is not None
        await bench.restart()
        assert (await bench.see_one(launched)).cause == "oom"

    @on_loop
    async def test_a_task_whose_first_process_ran_out_of_memory_ends_as_that(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        self.needs(bench, "isolation")
        launched = await bench.launch(
            f"({GROW}) || echo ready; sleep 600", resources=Resources(1000, 64 * MIB)
        )
        await bench.until_logged(launched, b"ready")
        # As the kernel would: it can take any process of the group.
        os.kill(shim_of(bench, launched), signal.SIGKILL)
        (one,) = await bench.until_over(launched)
        assert (one.state, one.exit_code, one.cause) == (TaskState.EXITED, 137, "oom")

    @on_loop
    async def test_no_group_is_left_after_ends_stops_and_kills(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        ended = await bench.launch(RoleSpec("true", count=3), attempt=0)
        stopped = await bench.launch(RUNS_LONG, attempt=1)
        lost = await bench.launch(f"{SCRUBBED} sleep 600", attempt=2)
        await self.daemon(bench, lost)
        assert len(groups(bench)) >= 2
        await bench.until_over(ended)
        await bench.engine.stop(stopped, grace_s=5)
        os.kill(shim_of(bench, lost), signal.SIGKILL)
        assert (await bench.until_over(lost))[0].state is TaskState.LOST
        await until_no_groups(bench)

    @on_loop
    async def test_a_daemon_without_any_mark_does_not_outlive_its_lost_task(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        launched = await bench.launch(f"{SCRUBBED} sleep 600")
        daemon = await self.daemon(bench, launched)
        os.kill(shim_of(bench, launched), signal.SIGKILL)
        await bench.until_over(launched)
        assert not is_running(daemon)

    @on_loop
    async def test_a_new_server_sweeps_what_an_older_one_left(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        launched = await bench.launch(f"{SCRUBBED} sleep 600")
        daemon = await self.daemon(bench, launched)
        await bench.engine.close()
        os.kill(shim_of(bench, launched), signal.SIGKILL)
        bench.open()
        assert groups(bench)
        await bench.engine.nodes()  # type: ignore[attr-defined]
        assert not groups(bench)
        assert not is_running(daemon)

    @on_loop
    async def test_a_server_that_ends_leaves_no_groups_of_tasks_that_ended_unnoticed(
        self, bench: Bench
    ) -> None:
        self.needs(bench, "memory")
        launched = await bench.launch("until [ -e go ]; do sleep 0.02; done")
        await bench.engine.close()
        (bench.task(launched) / "work/go").touch()
        shim = shim_of(bench, launched)
        await_that(lambda: not is_running(shim))
        assert groups(bench)
        bench.open()
        assert await bench.exit_code(launched) == 0
        await bench.engine.close()
        assert not groups(bench)
        bench.open()

    @on_loop
    async def test_the_sweep_leaves_running_tasks_alone(self, bench: Bench) -> None:
        launched = await bench.launch(RUNS_LONG)
        before = groups(bench)
        await bench.engine.nodes()  # type: ignore[attr-defined]
        assert groups(bench) == before
        assert (await bench.see_one(launched)).state is TaskState.RUNNING

    @on_loop
    async def test_the_node_says_what_is_held(self, bench: Bench) -> None:
        (node,) = await bench.engine.nodes()  # type: ignore[attr-defined]
        assert set(node.enforced) == bench.engine.capabilities.limits
        assert bool(node.unenforced) == (len(node.enforced) < 8)

    @on_loop
    async def test_a_task_cannot_leave_its_groups(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        self.needs(bench, "files")
        place = bench.engine._confinement.tree.places[0]  # type: ignore[attr-defined]
        launched = await bench.launch(f"echo $$ >{place}/cgroup.procs")
        assert await bench.exit_code(launched) == 1
        # It sees its own group in place of all others.
        assert b"No such file" in bench.log(launched)

    @on_loop
    async def test_usage_of_many_tasks_is_read_quickly(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        launched = await bench.launch(RoleSpec(RUNS_LONG, count=100))
        await engine.usage([launched])
        began_at = time.process_time()
        assert len(await engine.usage([launched])) == 100
        # In CPU time, since the machine may be busy: a tenth of what a thousand may take.
        assert time.process_time() - began_at < 0.02

    @on_loop
    async def test_python_stacks_show_where_a_task_hangs(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        if find_spy() is None:
            pytest.skip("py-spy is not installed")
        lines = ("import time", "def hang_here(): time.sleep(600)", "print(1, flush=True)", "hang_here()")
        script = "python3 -c '" + "\n".join(lines) + "'"
        launched = await bench.launch(RoleSpec(script, "worker"), RoleSpec("sleep 600", "ps"))
        await bench.until_logged(launched, b"1", "worker")
        stacks = await engine.stacks(launched)
        assert "hang_here" in stacks["worker-0"]
        assert stacks["ps-0"] == "no Python process runs in this task"

    @on_loop
    async def test_a_command_runs_in_what_is_left_of_an_ended_task(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile(
            "echo left >file; exit 1", resources=Resources(1000, 64 * MIB), spec={"keep_on_failure_s": 600}
        )
        launched = await bench.start(request)
        await bench.until_over(launched)
        ran = await run(engine, request, "main", 0, ["cat", "file"])
        assert (ran.exit_code, ran.output) == (0, b"left\n")
        if "memory" in engine.capabilities.limits:
            ran = await run(engine, request, "main", 0, ["sh", "-c", GROW])
            assert ran.exit_code == 137
            await until_no_groups(bench)
        assert await bench.exit_code(launched) == 1

    @on_loop
    async def test_a_machine_without_memory_loses_tasks_before_the_server(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        score = min(int(Path("/proc/self/oom_score_adj").read_text()) + 500, 1000)
        request = bench.compile("cat /proc/self/oom_score_adj; sleep 600")
        launched = await bench.start(request)
        await bench.until_logged(launched, f"{score}\n".encode())
        ran = await run(engine, request, "main", 0, ["cat", "/proc/self/oom_score_adj"])
        assert ran.output == f"{score}\n".encode()

    @on_loop
    async def test_a_command_inside_shares_the_tasks_tmp_and_shared_memory(self, bench: Bench) -> None:
        self.needs(bench, "files")
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile("echo a >/tmp/a; echo b >/dev/shm/b; echo ready; sleep 600")
        launched = await bench.start(request)
        await bench.until_logged(launched, b"ready")
        ran = await run(engine, request, "main", 0, ["cat", "/tmp/a", "/dev/shm/b"])
        assert ran.output == b"a\nb\n"

    @on_loop
    async def test_what_runs_inside_ends_with_its_task(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile("echo ready; sleep 600")
        launched = await bench.start(request)
        await bench.until_logged(launched, b"ready")
        running = asyncio.create_task(run(engine, request, "main", 0, ["sh", "-c", "echo >in; sleep 60"]))

        async def begun() -> bool | None:
            return (bench.task(launched) / "work/in").exists() or None

        await until(begun)
        await engine.stop(launched, grace_s=0)
        assert (await running).exit_code == 137
        await until_no_groups(bench)

    @on_loop
    async def test_nothing_runs_inside_a_task_that_never_started(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile("true")
        for role in ("main", "other"):
            with pytest.raises(NotFound):
                await run(engine, request, role, 0, ["true"])

    @on_loop
    async def test_two_servers_of_one_home_do_not_take_away_each_others_place(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        other = LocalEngine(local_settings(bench.folder))
        await bench.launch("true", attempt=0)
        await other.close()
        assert await bench.exit_code(await bench.launch("exit 3", attempt=1)) == 3

    @on_loop
    async def test_a_server_that_ends_leaves_no_folder_for_groups(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        await bench.until_over(await bench.launch("true"))
        places = bench.engine._confinement.tree.places  # type: ignore[attr-defined]
        assert all(Path(place).exists() for place in places)
        await bench.engine.close()
        assert not any(Path(place).exists() for place in places)
        bench.open()


class TestCards(WithEngine):
    @pytest.fixture(params=["by control group", "by mask"])
    def bench(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
        if os.geteuid() != 0:
            pytest.skip("only root can make device files")
        confined = without_device_groups if request.param == "by mask" else confine
        nodes = tuple((f"/dev/fp-card{index}-{os.getpid()}",) for index in range(2))
        for (node,), minor in zip(nodes, (5, 7), strict=True):
            # Harmless ones: /dev/zero and /dev/full by other names.
            os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        settings = local_settings(tmp_path, gpus=(), gpu_nodes=nodes)
        yield Bench(lambda: LocalEngine(settings, confined), tmp_path)
        for (node,) in nodes:
            Path(node).unlink()

    @on_loop
    async def test_two_tasks_with_a_card_each_never_see_the_others_card(self, bench: Bench) -> None:
        self.needs(bench, "gpus")
        reads = f"[ $(head -c 1 /dev/fp-card$i-{os.getpid()} | wc -c) = 1 ]"
        command = f"for i in 0 1; do {reads} && echo $i; done; true"
        data = bench.folder / "data"
        data.mkdir()
        # With a mount at the root, too: then all of it is built anew.
        for index, mounts in enumerate(((), (volume(data, "/fp-data"),))):
            launched = await bench.launch(command, attempt=index, gpus={"main": (index,)}, volumes=mounts)
            assert await bench.exit_code(launched) == 0
            lines = bench.log(launched).decode().splitlines()
            assert [line for line in lines if line in ("0", "1")] == [str(index)]


def without_device_groups(*args: Any) -> Confinement:
    found = confine(*args)
    if found.tree is None:
        pytest.skip("tasks are in no control groups here")
    folders = {name: folder for name, folder in found.tree.folders.items() if name != "devices"}
    return replace(found, tree=replace(found.tree, folders=folders))


class TestWithoutGroups:
    """A machine on which no control groups can be written."""

    def run_loop(self, main: Any) -> None:
        asyncio.run(main)

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        def confine_less(*args: Any) -> Confinement:
            confinement = confine(*args)
            faults = {**confinement.faults, "memory": say("groups_unwritable", error="EROFS")}
            return replace(confinement, tree=None, faults=faults)

        return Bench(lambda: LocalEngine(local_settings(tmp_path), confine_less), tmp_path)

    @on_loop
    async def test_each_process_alone_is_held_to_the_memory_of_its_task(self, bench: Bench) -> None:
        grow = "python3 -c 'b = bytearray(400 * 2**20); print(len(b))'"
        held = await bench.launch(grow, attempt=0, resources=Resources(1000, 256 * MIB))
        free = await bench.launch(grow, attempt=1, resources=Resources(1000, 1024 * MIB))
        assert await bench.exit_code(held) == 1
        assert b"MemoryError" in bench.log(held)
        assert await bench.exit_code(free) == 0


class TestWithoutLimits(WithEngine):
    settings = MappingProxyType({"limits": False})

    @on_loop
    async def test_tasks_run_unconfined_and_the_node_says_so(self, bench: Bench) -> None:
        assert bench.engine.capabilities.limits == frozenset()
        launched = await bench.launch(f"ls -d {bench.folder}; exit 4")
        assert await bench.exit_code(launched) == 4
        assert bench.log(launched).decode() == f"{bench.folder}\n"
        (node,) = await bench.engine.nodes()  # type: ignore[attr-defined]
        assert "turned off" in str(node.unenforced)

    @on_loop
    async def test_mounts_are_refused_with_what_to_do(self, bench: Bench) -> None:
        with pytest.raises(EngineRejected, match="run the job in an image"):
            await bench.launch("true", volumes=(volume(bench.folder, "/fp-data"),))

    @on_loop
    async def test_usage_is_read_from_the_processes(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        launched = await bench.launch("(while :; do :; done) & sleep 600")

        async def busy() -> bool | None:
            (one,) = await engine.usage([launched])
            return (one.cpu_s > 0.1 and one.memory_bytes > MIB and one.n_processes == 3) or None

        await until(busy)
