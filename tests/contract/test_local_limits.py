"""Tasks of the local engine are held to their limits, see their own files only, and leave nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil
import pytest

from footplate.domain.errors import EngineRejected, NotFound
from footplate.domain.resources import MIB, Resources
from footplate.domain.spec import RoleSpec
from footplate.domain.states import TaskState
from footplate.engines.base import Handle, Mount
from footplate.engines.local import cgroups
from footplate.engines.local.confinement import Confinement, confine
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.records import read_claim, read_exit
from footplate.engines.local.request import SHIM
from footplate.engines.local.settings import LocalSettings
from footplate.engines.local.stacks import find_spy
from footplate.testing.contract import RUNS_LONG
from footplate.testing.engine_bench import Bench, on_loop, plan, until
from footplate.testing.limit_contract import GROW
from footplate.testing.process import await_that

# Leaves session, group and parent, and takes its environment off, so that no mark is left on it.
SCRUBBED = "setsid env -i sh -c 'trap \"\" TERM HUP INT; echo $$ >../daemon; while :; do sleep 0.1; done' & "


def shim_of(bench: Bench, handle: Handle) -> int:
    claim = read_claim(bench.task(handle))
    assert claim is not None
    assert claim.identity is not None
    return claim.identity.pid


def groups(bench: Bench) -> set[str]:
    trees = bench.engine._confinement.trees  # type: ignore[attr-defined]
    return {name for name in cgroups.names(trees) if cgroups.is_task(name)}


def is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


async def until_no_groups(bench: Bench) -> None:
    async def look() -> bool | None:
        return not groups(bench) or None

    await until(look)


class WithEngine:
    """Tests of a local engine whose home is the bench's folder."""

    settings: Mapping[str, Any] = MappingProxyType({})

    def run_loop(self, main: Any) -> None:
        asyncio.run(main)

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        return Bench(lambda: LocalEngine(LocalSettings(home=tmp_path, **self.settings)), tmp_path)

    def needs(self, bench: Bench, limit: Any) -> None:
        if limit not in bench.engine.limits:
            pytest.skip(f"tasks cannot be held to their {limit} here")

    async def daemon(self, bench: Bench, handle: Handle) -> int:
        async def look() -> int | None:
            file = bench.task(handle) / "daemon"
            text = file.read_text() if file.exists() else ""
            return int(text) if text.endswith("\n") else None

        return await until(look)


class TestLimits(WithEngine):
    settings = MappingProxyType({"n_processes": 24})

    @on_loop
    async def test_the_number_of_processes_is_bounded(self, bench: Bench) -> None:
        self.needs(bench, "processes")
        handle = await bench.launch("for i in $(seq 60); do sleep 5 & done; wait")
        assert await bench.exit_code(handle) not in (0, None)
        assert b"fork" in bench.log(handle)

    @on_loop
    async def test_what_was_counted_is_in_the_record_of_the_end(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        handle = await bench.launch("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")
        await bench.until_over(handle)
        end = read_exit(bench.task(handle))
        assert end is not None
        assert end.limit_bytes == 2**30
        assert end.peak_bytes is not None
        assert end.peak_bytes > 0
        assert end.cpu_s is not None
        assert 0 < end.cpu_s < 20

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
        handle = await bench.launch(f"{SCRUBBED} sleep 600")
        daemon = await self.daemon(bench, handle)
        os.kill(shim_of(bench, handle), signal.SIGKILL)
        await bench.until_over(handle)
        assert not is_running(daemon)

    @on_loop
    async def test_a_new_server_sweeps_what_an_older_one_left(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        handle = await bench.launch(f"{SCRUBBED} sleep 600")
        daemon = await self.daemon(bench, handle)
        await bench.engine.close()
        os.kill(shim_of(bench, handle), signal.SIGKILL)
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
        handle = await bench.launch("until [ -e go ]; do sleep 0.02; done")
        await bench.engine.close()
        (bench.task(handle) / "work/go").touch()
        shim = shim_of(bench, handle)
        await_that(lambda: not is_running(shim))
        assert groups(bench)
        bench.open()
        assert await bench.exit_code(handle) == 0
        await bench.engine.close()
        assert not groups(bench)
        bench.open()

    @on_loop
    async def test_the_sweep_leaves_running_tasks_alone(self, bench: Bench) -> None:
        handle = await bench.launch(RUNS_LONG)
        before = groups(bench)
        await bench.engine.nodes()  # type: ignore[attr-defined]
        assert groups(bench) == before
        assert (await bench.see_one(handle)).state is TaskState.RUNNING

    @on_loop
    async def test_the_node_says_what_is_held(self, bench: Bench) -> None:
        (node,) = await bench.engine.nodes()  # type: ignore[attr-defined]
        assert set(node.enforced) == bench.engine.limits
        assert bool(node.unenforced) == (len(node.enforced) < 6)

    @on_loop
    async def test_a_task_cannot_leave_its_groups(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        self.needs(bench, "files")
        place = bench.engine._confinement.tree.places[0]  # type: ignore[attr-defined]
        handle = await bench.launch(f"echo $$ >{place}/cgroup.procs")
        assert await bench.exit_code(handle) == 1
        assert b"Read-only file system" in bench.log(handle) or b"Permission denied" in bench.log(handle)

    @on_loop
    async def test_usage_of_many_tasks_is_read_quickly(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        handle = await bench.launch(RoleSpec(RUNS_LONG, count=100))
        await engine.usage([handle])
        began_at = time.process_time()
        assert len(await engine.usage([handle])) == 100
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
        handle = await bench.launch(RoleSpec(script, "worker"), RoleSpec("sleep 600", "ps"))
        await bench.until_logged(handle, b"1", "worker")
        stacks = await engine.stacks(handle)
        assert "hang_here" in stacks["worker-0"]
        assert stacks["ps-0"] == "no Python process runs in this task"

    @on_loop
    async def test_a_command_runs_in_what_is_left_of_an_ended_task(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile("echo left >file; exit 1", resources=Resources(1000, 64 * MIB))
        handle = await engine.launch(request)
        await bench.until_over(handle)
        ran = await engine.run_inside(request, "main", 0, ["cat", "file"])
        assert (ran.exit_code, ran.output) == (0, b"left\n")
        if "memory" in engine.limits:
            ran = await engine.run_inside(request, "main", 0, ["sh", "-c", GROW])
            assert ran.exit_code == 137
            await until_no_groups(bench)
        assert await bench.exit_code(handle) == 1

    @on_loop
    async def test_a_command_inside_shares_the_tasks_tmp_and_shared_memory(self, bench: Bench) -> None:
        self.needs(bench, "files")
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile("echo a >/tmp/a; echo b >/dev/shm/b; echo ready; sleep 600")
        handle = await engine.launch(request)
        await bench.until_logged(handle, b"ready")
        ran = await engine.run_inside(request, "main", 0, ["cat", "/tmp/a", "/dev/shm/b"])
        assert ran.output == b"a\nb\n"

    @on_loop
    async def test_what_runs_inside_ends_with_its_task(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile("echo ready; sleep 600")
        handle = await engine.launch(request)
        await bench.until_logged(handle, b"ready")
        running = asyncio.create_task(
            engine.run_inside(request, "main", 0, ["sh", "-c", "echo >../in; sleep 60"])
        )

        async def begun() -> bool | None:
            return (bench.task(handle) / "in").exists() or None

        await until(begun)
        await engine.stop(handle, grace_s=0)
        assert (await running).exit_code == 137
        await until_no_groups(bench)

    @on_loop
    async def test_nothing_runs_inside_a_task_that_never_started(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile("true")
        for role in ("main", "other"):
            with pytest.raises(NotFound):
                await engine.run_inside(request, role, 0, ["true"])

    @on_loop
    async def test_two_servers_of_one_home_do_not_take_away_each_others_place(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        other = LocalEngine(LocalSettings(home=bench.folder))
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


def mounts_of_hosts() -> list[str]:
    """List what is mounted here, but for what container engines of other tests mount beside us."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [line for line in lines if "/overlay" not in line]


class TestView(WithEngine):
    @on_loop
    async def test_a_task_sees_its_own_job_and_nothing_else_of_the_home_folder(self, bench: Bench) -> None:
        self.needs(bench, "files")
        home = bench.folder
        (home / "secret").write_text("hush")
        other = home / "jobs" / "other" / "other1"
        other.mkdir(parents=True)
        command = f"find {home} -maxdepth 3; touch $FOOTPLATE_OUTPUT_DIR/made; cat {home}/secret || true"
        root = home / "jobs" / "mine1" / "mine1abc"
        folders = {"checkpoint_folder": root / "checkpoints", "output_folder": root / "output"}
        handle = await bench.engine.launch(bench.engine.compile(plan(root, RoleSpec(command), **folders)))
        assert await bench.exit_code(handle) == 0
        seen = bench.log(handle).decode()
        assert str(root) in seen
        assert "hush" not in seen
        assert "other" not in seen
        assert (root / "output" / "made").exists()

    @on_loop
    async def test_nothing_stays_mounted_on_the_host(self, bench: Bench) -> None:
        before = mounts_of_hosts()
        handle = await bench.launch("true", attempt=0)
        running = await bench.launch(RUNS_LONG, attempt=1)
        assert mounts_of_hosts() == before
        await bench.until_over(handle)
        os.kill(shim_of(bench, running), signal.SIGKILL)
        await bench.until_over(running)
        assert mounts_of_hosts() == before

    @on_loop
    async def test_a_task_cannot_look_behind_what_is_hidden(self, bench: Bench) -> None:
        self.needs(bench, "files")
        (bench.folder / "secret").write_text("hush")
        server, spawner = os.getpid(), bench.engine._processes._spawner  # type: ignore[attr-defined]
        await bench.launch("true", attempt=1)
        command = "\n".join(
            f"cat {way}{bench.folder}/secret || true"
            for way in (f"/proc/{server}/root", f"/proc/{spawner.pid}/root")
        )
        handle = await bench.launch(
            f"{command}\numount {bench.folder} || umount /tmp || true\ncat {bench.folder}/secret || true"
        )
        await bench.until_over(handle)
        assert b"hush" not in bench.log(handle)

    @on_loop
    async def test_tasks_of_different_people_cannot_look_into_each_other(self, bench: Bench) -> None:
        self.needs(bench, "files")
        other = await bench.launch(
            "echo hush >/tmp/secret; echo ready; sleep 600", attempt=0, owner="bob", secrets={"KEY": "hush"}
        )
        await bench.until_logged(other, b"ready")
        looks = [f"cat /proc/{shim_of(bench, other)}/{file}" for file in ("root/tmp/secret", "environ")]
        handle = await bench.launch("; ".join(f"{look} || echo refused" for look in looks), attempt=1)
        await bench.until_over(handle)
        assert bench.log(handle).count(b"refused") == 2
        assert b"hush" not in bench.log(handle)

    @on_loop
    async def test_root_in_a_task_is_root_over_files_and_nothing_else(self, bench: Bench) -> None:
        self.needs(bench, "files")
        if os.geteuid() != 0:
            pytest.skip("tasks of an ordinary account are not root")
        handle = await bench.launch(
            "touch mine; chown 1234:1234 mine; stat -c %u:%g mine; "
            "for one in 'mount -t tmpfs none /mnt' 'hostname other' 'date -s 2000-01-01'; do "
            "$one >/dev/null 2>&1 && echo could $one; done; true"
        )
        await bench.until_over(handle)
        assert bench.log(handle).decode().split() == ["1234:1234"]

    @on_loop
    async def test_a_command_run_inside_sees_what_the_task_sees(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile("echo ready; sleep 600", owner="bob", secrets={"KEY": "hush"})
        handle = await engine.launch(request)
        await bench.until_logged(handle, b"ready")
        look = ["sh", "-c", f"tr '\\0' '\\n' </proc/{shim_of(bench, handle)}/environ | grep KEY"]
        ran = await engine.run_inside(request, "main", 0, look)
        assert ran.output == b"KEY=hush\n"

    @on_loop
    async def test_a_mount_that_does_not_exist_says_which(self, bench: Bench) -> None:
        self.needs(bench, "files")
        gone = Mount(bench.folder / "gone", Path("/fp-data"))
        with pytest.raises(EngineRejected, match=r"gone cannot be mounted for the task: No such file"):
            await bench.launch("true", mounts=(gone,))
        await until_no_groups(bench)

    @on_loop
    async def test_targets_that_belong_to_the_kernel_are_refused(self, bench: Bench) -> None:
        for target in ("/", "/proc/x", "/sys", "relative", "/a/../b", "/dev/shm"):
            with pytest.raises(EngineRejected, match="nothing can be mounted at"):
                await bench.launch("true", mounts=(Mount(bench.folder, Path(target)),))

    @on_loop
    async def test_no_path_shows_what_is_hidden_from_tasks(self, bench: Bench) -> None:
        self.needs(bench, "files")
        source = bench.folder / "source"
        source.mkdir()
        hidden = ("/.footplate-old-root", "/.footplate-old-root/x", str(bench.folder))
        # Whoever covers these would run in the place of the shim, which has no limits.
        programs = ("/usr", "/etc/x", sys.prefix, str(SHIM.parent))
        for target in (*hidden, *programs):
            with pytest.raises(EngineRejected, match="nothing can be mounted at"):
                await bench.launch("true", mounts=(Mount(source, Path(target)),))
        both = (Mount(source, Path("/fp-a")), Mount(source, Path("/fp-a/b")))
        with pytest.raises(EngineRejected, match="lies in"):
            await bench.launch("true", mounts=both)

    @on_loop
    async def test_a_library_that_is_loaded_first_is_held_to_the_limits_too(self, bench: Bench) -> None:
        env = {"LD_PRELOAD": "/nowhere/first second.so", "LD_BIND_NOW": "1"}
        handle = await bench.launch(RoleSpec("echo $LD_PRELOAD $LD_BIND_NOW; sleep 600", env=env))
        log = await bench.until_logged(handle, b"/nowhere/first second.so 1")
        # The loader says so once for every program: the shim is none of them.
        assert b"/nowhere/first" in log
        shim = shim_of(bench, handle)
        assert b"\0LD_PRELOAD=" not in Path(f"/proc/{shim}/environ").read_bytes()
        await bench.engine.stop(handle, grace_s=0)

    @on_loop
    async def test_a_variable_makes_nothing_visible(self, bench: Bench) -> None:
        self.needs(bench, "files")
        hidden = bench.folder / "hidden"
        hidden.mkdir()
        handle = await bench.launch(RoleSpec(f"ls {hidden} || echo hidden", env={"VIRTUAL_ENV": str(hidden)}))
        await bench.until_over(handle)
        assert bench.log(handle).endswith(b"hidden\n")

    @on_loop
    async def test_a_mount_over_a_folder_of_the_host_hides_it_in_the_task_only(self, bench: Bench) -> None:
        self.needs(bench, "files")
        source, target = bench.folder / "source", Path("/opt")
        source.mkdir()
        (source / "mine").write_text("x")
        before = sorted(path.name for path in target.iterdir())
        handle = await bench.launch("ls /opt", mounts=(Mount(source, target),))
        assert await bench.exit_code(handle) == 0
        assert bench.log(handle) == b"mine\n"
        assert sorted(path.name for path in target.iterdir()) == before


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
        settings = LocalSettings(home=tmp_path, gpus=(), gpu_nodes=nodes)
        yield Bench(lambda: LocalEngine(settings, confined), tmp_path)
        for (node,) in nodes:
            Path(node).unlink()

    @on_loop
    async def test_two_tasks_with_a_card_each_never_see_the_others_card(self, bench: Bench) -> None:
        self.needs(bench, "gpus")
        reads = f"[ $(head -c 1 /dev/fp-card$i-{os.getpid()} | wc -c) = 1 ]"
        command = f"for i in 0 1; do {reads} && echo $i; done; true"
        for index in range(2):
            handle = await bench.launch(command, attempt=index, gpus={"main": (index,)})
            assert await bench.exit_code(handle) == 0
            lines = bench.log(handle).decode().splitlines()
            assert [line for line in lines if line in ("0", "1")] == [str(index)]


def without_device_groups(*args: Any) -> Confinement:
    found = confine(*args)
    assert found.tree is not None
    folders = {name: folder for name, folder in found.tree.folders.items() if name != "devices"}
    return replace(found, tree=replace(found.tree, folders=folders))


class TestWithoutGroups:
    """A machine on which no control groups can be written."""

    def run_loop(self, main: Any) -> None:
        asyncio.run(main)

    @pytest.fixture
    def bench(self, tmp_path: Path) -> Bench:
        def confine_less(home: Path | None, nodes: Any, n_processes: int) -> Confinement:
            confinement = confine(home, nodes, n_processes)
            faults = {**confinement.faults, "memory": "control groups cannot be written"}
            return replace(confinement, tree=None, faults=faults)

        return Bench(lambda: LocalEngine(LocalSettings(home=tmp_path), confine_less), tmp_path)

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
        assert bench.engine.limits == frozenset()
        handle = await bench.launch(f"ls -d {bench.folder}; exit 4")
        assert await bench.exit_code(handle) == 4
        assert bench.log(handle).decode() == f"{bench.folder}\n"
        (node,) = await bench.engine.nodes()  # type: ignore[attr-defined]
        assert "turned off" in node.unenforced

    @on_loop
    async def test_mounts_are_refused_with_what_to_do(self, bench: Bench) -> None:
        with pytest.raises(EngineRejected, match="run the job in an image"):
            await bench.launch("true", mounts=(Mount(bench.folder, Path("/fp-data")),))

    @on_loop
    async def test_usage_is_read_from_the_processes(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        handle = await bench.launch("(while :; do :; done) & sleep 600")

        async def busy() -> bool | None:
            (one,) = await engine.usage([handle])
            return (one.cpu_s > 0.1 and one.memory_bytes > MIB and one.n_processes == 3) or None

        await until(busy)
