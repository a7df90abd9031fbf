"""Tasks that `footplate-init` begins have nothing of the spawner's, and a failed start leaves nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from localbench import BY_SHELL, WithEngine, groups, needs_native, shim_of, until_no_groups

from footplate.domain.errors import EngineUnavailable
from footplate.domain.resources import MIB, Resources
from footplate.domain.spec import RoleSpec
from footplate.domain.states import TaskState
from footplate.engines.local.confine import user_namespaces
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.observe.records import read_exit
from footplate.engines.local.process import inplace
from footplate.engines.streams import run
from footplate.engines.usage import CardUsage
from footplate.testing.engine_bench import Bench, on_loop, until

# The shell that lists them has opened none: the folder is the listing program's own.
LIST_DESCRIPTORS = "cd /proc/self/fd; for one in *; do [ -e $one ] && echo $one $(readlink $one); done; true"
STATUS = "grep -E '^(CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp):' /proc/%s/status"


def spawner_of(bench: Bench) -> int:
    pid: int = bench.engine._processes._spawner.pid  # type: ignore[attr-defined]
    return pid


def own_mounts(folder: Path) -> list[str]:
    """List what a process has mounted; what others mount on the machine meanwhile shows up there as well."""
    before = mounts_at("/proc/self/mountinfo")
    mounts = mounts_at(folder / "mountinfo")
    outside = before.keys() | mounts_at("/proc/self/mountinfo").keys()
    return [line for place, line in mounts.items() if place not in outside]


def mounts_at(file: str | Path) -> dict[tuple[str, ...], str]:
    """Map each mount's device, root and place to its line."""
    return {tuple(line.split()[2:5]): line for line in Path(file).read_text().splitlines()}


def whereabouts(pid: int) -> dict[str, Any]:
    """Say where a process is, and what it has open."""
    folder = Path("/proc", str(pid))
    spaces = {
        kind: str((folder / "ns" / kind).readlink()) for kind in ("mnt", "ipc", "pid", "pid_for_children")
    }
    return {
        **spaces,
        "folder": str((folder / "cwd").readlink()),
        "mounts": own_mounts(folder),
        "open": len(list((folder / "fd").iterdir())),
        "children": (folder / "task" / str(pid) / "children").read_text(),
    }


# Signals 32 and 33: the library lets no program change them, so they are as whoever runs the tests has them.
OF_THE_C_LIBRARY = 0b11 << 31


class TestNative(WithEngine):
    """What holds for a task, whoever begins it."""

    settings: Mapping[str, Any] = {}

    @on_loop
    async def test_a_task_has_its_input_and_its_log_open_and_nothing_else(self, bench: Bench) -> None:
        launched = await bench.launch(LIST_DESCRIPTORS)
        await bench.until_over(launched)
        seen = dict(line.split(" ", 1) for line in bench.log(launched).decode().splitlines())
        log = str(bench.task(launched) / "log")
        assert seen == {"0": "/dev/null", "1": log, "2": log}

    @on_loop
    async def test_a_gang_has_nothing_of_the_spawners_either(self, bench: Bench) -> None:
        launched = await bench.launch(RoleSpec(LIST_DESCRIPTORS, count=inplace.MOST_TASKS + 1))
        await bench.until_over(launched)
        for index in range(inplace.MOST_TASKS + 1):
            lines = bench.log(launched, index=index).decode().splitlines()
            assert [line.split()[0] for line in lines] == ["0", "1", "2"]

    @on_loop
    async def test_what_watches_over_a_task_has_no_power_that_the_task_has_not(self, bench: Bench) -> None:
        if "accounts" not in bench.engine.capabilities.limits:
            pytest.skip("tasks have no powers of their own here")
        launched = await bench.launch(f"{STATUS % 'self'}; {STATUS % 1}")
        assert await bench.exit_code(launched) == 0
        lines = bench.log(launched).decode().splitlines()
        assert lines[:7] == lines[7:]
        kept = f"{user_namespaces.mask_of(user_namespaces.KEPT_CAPABILITIES):016x}"
        assert [line.split()[1] for line in lines[:7]] == ["0" * 16, kept, kept, kept, "0" * 16, "1", "2"]

    @on_loop
    async def test_no_signal_is_ignored_or_blocked(self, bench: Bench) -> None:
        launched = await bench.launch("grep -E '^Sig(Blk|Ign):' /proc/self/status")
        assert await bench.exit_code(launched) == 0
        masks = [int(line.split()[1], 16) for line in bench.log(launched).decode().splitlines()]
        assert [mask & ~OF_THE_C_LIBRARY for mask in masks] == [0, 0]

    @on_loop
    async def test_the_record_of_the_end_has_its_page_before_the_task_has_a_group(self, bench: Bench) -> None:
        """The kernel keeps a removed group for as long as a page of a file is charged to it."""
        self.needs(bench, "memory")
        launched = await bench.launch("echo ready; sleep 600")
        await bench.until_logged(launched, b"ready")
        assert (bench.task(launched) / "exit").read_bytes() == b"\n"
        assert (await bench.see_one(launched)).state is TaskState.RUNNING

    @on_loop
    async def test_a_command_that_is_not_there_says_so_and_ends(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile("echo ready; sleep 600")
        launched = await bench.start(request)
        await bench.until_logged(launched, b"ready")
        ran = await run(engine, request, "main", 0, ["no-such-command"])
        assert ran.exit_code == 127
        assert b"no-such-command" in ran.output
        ran = await run(engine, request, "main", 0, ["/etc"])
        assert ran.exit_code == 126

    @on_loop
    async def test_variables_of_the_loader_reach_the_command(self, bench: Bench) -> None:
        variables = {"LD_LIBRARY_PATH": "/opt/x", "GLIBC_TUNABLES": "glibc.malloc.check=3", "EMPTY": ""}
        launched = await bench.launch(RoleSpec("env | grep -E '^(LD_L|GLIBC|EMPTY)' | sort", env=variables))
        assert await bench.exit_code(launched) == 0
        assert bench.log(launched).decode().splitlines() == [f"{k}={v}" for k, v in sorted(variables.items())]

    @on_loop
    async def test_a_command_that_needs_no_shell_runs_as_by_one(self, bench: Bench) -> None:
        request = bench.compile("env")
        launched = await bench.start(request)
        assert await bench.exit_code(launched) == 0
        assert f"PWD={request['tasks'][0]['work_folder']}" in bench.log(launched).decode().splitlines()
        launched = await bench.launch("no-such-command --x", attempt=1)
        assert await bench.exit_code(launched) == 127
        assert b"no-such-command: command not found" in bench.log(launched)
        launched = await bench.launch("/etc", attempt=2)
        assert await bench.exit_code(launched) == 126

    @on_loop
    async def test_a_script_that_names_no_interpreter_is_run_by_the_shell(self, bench: Bench) -> None:
        request = bench.compile("./script one")
        script = Path(request["tasks"][0]["work_folder"], "script")
        script.parent.mkdir(parents=True)
        script.write_text('[[ $1 == one ]] && echo "${BASH_VERSION:+by bash}"\n')
        script.chmod(0o755)
        launched = await bench.start(request)
        assert await bench.exit_code(launched) == 0
        assert bench.log(launched) == b"by bash\n"

    @on_loop
    async def test_the_end_says_what_the_task_used(self, bench: Bench) -> None:
        burn = "python3 -c 'import time\nwhile time.process_time() < 0.5: pass'"
        request = bench.compile(burn)
        launched = await bench.start(request)
        assert await bench.exit_code(launched) == 0
        end = read_exit(bench.task(launched))
        assert end is not None
        assert end.cpu_s is not None
        assert end.cpu_s > 0.4
        if "memory" in bench.engine.capabilities.limits:
            assert end.limit_bytes == request["tasks"][0]["memory_bytes"]
            assert end.peak_bytes

    @on_loop
    async def test_a_task_is_told_how_busy_its_own_cards_are(self, bench: Bench) -> None:
        busy = {index: CardUsage(index, index / 10, index * MIB, 100.0) for index in range(4)}
        engine: Any = bench.engine
        engine._machine._cards = SimpleNamespace(usage=lambda: busy)
        launched = await bench.launch("sleep 1000", gpus={"main": (1, 3)})
        (used,) = await engine.usage([launched])
        assert used.cards == (busy[1], busy[3])
        without = await bench.launch("sleep 1000", attempt=1)
        (used,) = await engine.usage([without])
        assert used.cards == ()


class TestByShell(TestNative):
    settings = BY_SHELL


class TestInPlace(WithEngine):
    """What is done within the spawner itself."""

    @pytest.fixture(autouse=True)
    def native_and_root(self) -> None:
        needs_native()
        if os.geteuid() != 0:
            pytest.skip("only root starts tasks without a copy of the spawner")

    async def settled(self, bench: Bench) -> dict[str, Any]:
        """Have all been made that is made once, and look."""
        await bench.until_over(await bench.launch("true", attempt=90))
        await until_no_groups(bench)
        return whereabouts(spawner_of(bench))

    async def until_back(self, bench: Bench, before: dict[str, Any]) -> None:
        """Wait for the last child to be gone; all else must be as it was."""

        async def look() -> bool | None:
            return not whereabouts(spawner_of(bench))["children"] or None

        await until(look)
        assert whereabouts(spawner_of(bench)) == before

    @on_loop
    async def test_tasks_are_begun_by_the_program_and_cannot_look_into_it(self, bench: Bench) -> None:
        launched = await bench.launch("! cat /proc/1/environ; ! ls /proc/1/fd; echo ready; sleep 600")
        await bench.until_logged(launched, b"ready")
        words = Path("/proc", str(shim_of(bench, launched)), "cmdline").read_bytes().split(b"\0")
        assert words[0] == b"footplate-init"
        if "accounts" in bench.engine.capabilities.limits:
            assert bench.log(launched).count(b"Permission denied") == 2

    @on_loop
    async def test_the_spawner_is_where_it_was_after_many_starts(self, bench: Bench) -> None:
        before = await self.settled(bench)
        for attempt in range(5):
            await bench.until_over(await bench.launch("true", attempt=attempt))
        await self.until_back(bench, before)

    @on_loop
    async def test_a_view_that_cannot_be_made_leaves_nothing_behind(self, bench: Bench) -> None:
        self.needs(bench, "files")
        before = await self.settled(bench)
        request = bench.compile("true")
        folder = bench.task(bench.attempt_of(request))
        folder.mkdir(parents=True)
        (folder / "tmp").symlink_to("/")
        with pytest.raises(EngineUnavailable):
            await bench.engine.launch(request)
        await self.until_back(bench, before)
        assert not (folder / "pid").exists()
        assert await bench.exit_code(await bench.launch("exit 3", attempt=1)) == 3

    @on_loop
    async def test_a_work_folder_that_cannot_be_entered_leaves_nothing_behind(self, bench: Bench) -> None:
        before = await self.settled(bench)
        request = bench.compile("true")
        work = Path(request["tasks"][0]["work_folder"])
        work.parent.mkdir(parents=True)
        work.symlink_to("/nowhere")
        with pytest.raises(EngineUnavailable):
            await bench.engine.launch(request)
        await self.until_back(bench, before)
        assert not groups(bench)

    @on_loop
    async def test_a_limit_that_the_kernel_refuses_leaves_no_groups_and_no_claim(self, bench: Bench) -> None:
        self.needs(bench, "memory")
        before = await self.settled(bench)
        request = bench.compile("true", resources=Resources(1000, 64 * MIB))
        request["tasks"][0]["memory_bytes"] = -(2**40)
        with pytest.raises(EngineUnavailable, match="group memory"):
            await bench.engine.launch(request)
        assert not groups(bench)
        await self.until_back(bench, before)
        assert not (bench.task(bench.attempt_of(request)) / "pid").exists()

    @on_loop
    async def test_a_zero_byte_begins_no_step_of_the_tasks_own(self, bench: Bench) -> None:
        before = await self.settled(bench)
        request = bench.compile("true")
        mount = "\0".join(["X", "mount", "5", "tmpfs", "/mnt", "tmpfs", "0", "", "run", "1", "/bin/true"])
        request["tasks"][0]["env"]["X"] = mount
        with pytest.raises(EngineUnavailable, match="zero byte"):
            await bench.engine.launch(request)
        await self.until_back(bench, before)

    @on_loop
    async def test_a_program_that_vanished_is_an_error_and_not_the_end_of_the_spawner(
        self, bench: Bench
    ) -> None:
        before = await self.settled(bench)
        spawner = bench.engine._processes._spawner  # type: ignore[attr-defined]
        confined = spawner._confined
        assert confined["native"].startswith("/")
        await spawner.close()
        spawner._confined = {**confined, "native": confined["native"].replace("init", "no-such-program")}
        with pytest.raises(EngineUnavailable, match="No such file"):
            await bench.launch("true")
        after = whereabouts(spawner_of(bench))
        assert after["pid"] == after["pid_for_children"] == before["pid"]
        assert not groups(bench)
