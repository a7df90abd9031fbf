"""A task of the local engine sees its own files and nothing of others, and nothing stays on the host."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from localbench import WithEngine, shim_of, until_no_groups

from footplate.domain.errors import EngineRejected
from footplate.domain.spec import RoleSpec
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.process.becoming import INIT
from footplate.engines.local.process.exec import commands_in
from footplate.engines.local.process.processes import descendants
from footplate.engines.streams import run
from footplate.home.layout import job_folder
from footplate.testing.contract import RUNS_LONG
from footplate.testing.engine_bench import Bench, on_loop, until, volume


def mounts_of_hosts() -> list[str]:
    """List what is mounted here, but for container engines and disks that hang, which other tests mount."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [line for line in lines if "/overlay" not in line and " - fuse" not in line]


def command_lines_below(pid: int) -> bytes:
    """Read what everybody can: the words of a process and of all that descend from it."""
    found = []
    for one in (pid, *descendants(pid)):
        with suppress(FileNotFoundError, ProcessLookupError):
            found.append(Path(f"/proc/{one}/cmdline").read_bytes())
    return b"\n".join(found)


class TestView(WithEngine):
    @on_loop
    async def test_a_task_sees_its_own_job_and_nothing_else_of_the_home_folder(self, bench: Bench) -> None:
        self.needs(bench, "files")
        home = bench.folder
        (home / "secret").write_text("hush")
        other = home / "jobs" / "other" / "other1"
        other.mkdir(parents=True)
        command = f"find {home} -maxdepth 3; touch $FOOTPLATE_OUTPUT_DIR/made; cat {home}/secret || true"
        launched = await bench.launch(command)
        root = job_folder(home, launched.job_id)
        assert await bench.exit_code(launched) == 0
        seen = bench.log(launched).decode()
        assert str(root) in seen
        assert "hush" not in seen
        assert "other" not in seen
        assert (root / "output" / "made").exists()

    @on_loop
    async def test_nothing_stays_mounted_on_the_host(self, bench: Bench) -> None:
        before = mounts_of_hosts()
        launched = await bench.launch("true", attempt=0)
        running = await bench.launch(RUNS_LONG, attempt=1)
        assert mounts_of_hosts() == before
        await bench.until_over(launched)
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
        launched = await bench.launch(
            f"{command}\numount {bench.folder} || umount /tmp || true\ncat {bench.folder}/secret || true"
        )
        await bench.until_over(launched)
        assert b"hush" not in bench.log(launched)

    @on_loop
    async def test_tasks_of_different_people_cannot_look_into_each_other(self, bench: Bench) -> None:
        self.needs(bench, "files")
        other = await bench.launch(
            "echo hush >/tmp/secret; echo ready; sleep 600", attempt=0, owner="bob", secrets={"KEY": "hush"}
        )
        await bench.until_logged(other, b"ready")
        looks = [f"cat /proc/{shim_of(bench, other)}/{file}" for file in ("root/tmp/secret", "environ")]
        launched = await bench.launch("; ".join(f"{look} || echo refused" for look in looks), attempt=1)
        await bench.until_over(launched)
        assert bench.log(launched).count(b"refused") == 2
        assert b"hush" not in bench.log(launched)

    @on_loop
    async def test_root_in_a_task_is_root_over_files_and_nothing_else(self, bench: Bench) -> None:
        self.needs(bench, "files")
        if os.geteuid() != 0:
            pytest.skip("tasks of an ordinary account are not root")
        launched = await bench.launch(
            "touch mine; chown 1234:1234 mine; stat -c %u:%g mine; "
            "for one in 'mount -t tmpfs none /mnt' 'hostname other' 'date -s 2000-01-01'; do "
            "$one >/dev/null 2>&1 && echo could $one; done; true"
        )
        await bench.until_over(launched)
        assert bench.log(launched).decode().split() == ["1234:1234"]

    @on_loop
    async def test_a_command_run_inside_sees_what_the_task_sees(self, bench: Bench) -> None:
        self.needs(bench, "isolation")
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        request = bench.compile("echo ready; sleep 600", owner="bob", secrets={"KEY": "hush"})
        launched = await bench.start(request)
        await bench.until_logged(launched, b"ready")
        look = ["sh", "-c", "tr '\\0' '\\n' </proc/$(pgrep -o sleep)/environ | grep KEY"]
        ran = await run(engine, request, "main", 0, look)
        assert ran.output == b"KEY=hush\n"

    @on_loop
    async def test_a_mount_that_does_not_exist_says_which(self, bench: Bench) -> None:
        self.needs(bench, "files")
        gone = volume(bench.folder / "gone", "/fp-data")
        with pytest.raises(EngineRejected, match=r"gone cannot be mounted for the task: No such file"):
            await bench.launch("true", volumes=(gone,))
        await until_no_groups(bench)

    @on_loop
    async def test_targets_that_belong_to_the_kernel_are_refused(self, bench: Bench) -> None:
        for target in ("/", "/proc/x", "/sys", "relative", "/a/../b", "/dev/shm"):
            with pytest.raises(EngineRejected, match="cannot mount at"):
                await bench.launch("true", volumes=(volume(bench.folder, target),))

    @on_loop
    async def test_no_path_shows_what_is_hidden_from_tasks(self, bench: Bench) -> None:
        self.needs(bench, "files")
        source = bench.folder / "source"
        source.mkdir()
        hidden = ("/.footplate-old-root", "/.footplate-old-root/x", str(bench.folder))
        # Whoever covers these would run in the place of the shim, which has no limits.
        programs = ("/usr", "/etc/x", sys.prefix, str(Path(INIT).parent))
        for target in (*hidden, *programs):
            with pytest.raises(EngineRejected, match="cannot mount at"):
                await bench.launch("true", volumes=(volume(source, target),))
        both = (volume(source, "/fp-a"), volume(source, "/fp-a/b"))
        with pytest.raises(EngineRejected, match="lies in"):
            await bench.launch("true", volumes=both)

    @on_loop
    async def test_a_library_that_is_loaded_first_is_held_to_the_limits_too(self, bench: Bench) -> None:
        env = {"LD_PRELOAD": "/nowhere/first second.so", "LD_BIND_NOW": "1"}
        launched = await bench.launch(RoleSpec("echo $LD_PRELOAD $LD_BIND_NOW; sleep 600", env=env))
        log = await bench.until_logged(launched, b"/nowhere/first second.so 1")
        # The loader says so once for every program: the shim is none of them.
        assert b"/nowhere/first" in log
        shim = shim_of(bench, launched)
        assert b"\0LD_PRELOAD=" not in Path(f"/proc/{shim}/environ").read_bytes()
        await bench.engine.stop(launched, grace_s=0)

    @on_loop
    async def test_no_variable_is_among_the_words_that_everybody_can_read(self, bench: Bench) -> None:
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        secrets = {"LD_SDK_KEY": "hush $(x) 'two' \\n", "LD_EMPTY": "", "KEY": "hush"}
        show = 'printf "%s|%s|%s\\n" "$LD_SDK_KEY" "${LD_EMPTY-unset}" "$KEY"; ! env | grep ^FOOTPLATE_LATE;'
        request = bench.compile(f"{show} sleep 600", secrets=secrets)
        launched = await bench.start(request)
        await bench.until_logged(launched, b"hush $(x) 'two' \\n||hush\n")
        assert b"hush" not in command_lines_below(shim_of(bench, launched))

        entering = asyncio.create_task(
            run(
                engine,
                request,
                "main",
                0,
                ["sh", "-c", f"{show} echo >in; while [ -e in ]; do sleep 0.01; done"],
            )
        )
        mark = bench.task(launched) / "work/in"
        await until(lambda: asyncio.to_thread(lambda: mark.exists() or None))
        (command,) = commands_in(bench.task(launched))
        assert b"hush" not in command_lines_below(command.pid)
        mark.unlink()
        assert (await entering).output == b"hush $(x) 'two' \\n||hush\n"

    @on_loop
    async def test_a_variable_makes_nothing_visible(self, bench: Bench) -> None:
        self.needs(bench, "files")
        hidden = bench.folder / "hidden"
        hidden.mkdir()
        launched = await bench.launch(
            RoleSpec(f"ls {hidden} || echo hidden", env={"VIRTUAL_ENV": str(hidden)})
        )
        await bench.until_over(launched)
        assert bench.log(launched).endswith(b"hidden\n")

    @on_loop
    async def test_a_mount_over_a_folder_of_the_host_hides_it_in_the_task_only(self, bench: Bench) -> None:
        self.needs(bench, "files")
        source, target = bench.folder / "source", Path("/srv")
        source.mkdir()
        (source / "mine").write_text("x")
        before = sorted(path.name for path in target.iterdir())
        launched = await bench.launch("ls /srv", volumes=(volume(source, str(target)),))
        assert await bench.exit_code(launched) == 0
        assert bench.log(launched) == b"mine\n"
        assert sorted(path.name for path in target.iterdir()) == before
