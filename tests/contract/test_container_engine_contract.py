"""The local engine keeps the contract with real containers of Podman and Docker."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from containerbench import OfEngine, containers_of, create, first_process, until_removed

from footplate.domain.attempt import Attempt
from footplate.domain.errors import Conflict, EngineError, EngineRejected, EngineUnavailable
from footplate.domain.resources import Resources
from footplate.domain.secret import RegistryLogin
from footplate.domain.spec import RoleSpec
from footplate.domain.states import TaskState
from footplate.engines.base import Step
from footplate.engines.local.containers.claiming import has_begun
from footplate.engines.local.containers.describing import key_of
from footplate.engines.local.containers.folders import make_folders
from footplate.engines.local.containers.naming import container_name
from footplate.engines.local.engine import LocalEngine
from footplate.engines.local.process.processes import descendants
from footplate.engines.streams import run
from footplate.testing import container_engine as engines
from footplate.testing.container_engine import LOGIN, ContainerEngine, ContainerEngineMissing
from footplate.testing.contract import RUNS_LONG, WAITS_FOR_GO, EngineContract, ProcessContract, let_go
from footplate.testing.engine_bench import Bench, on_loop
from footplate.testing.process import await_that

MIB = 1024**2


class ContainerContract(OfEngine):
    """What holds for containers beside the contract of all engines."""

    @on_loop
    async def test_a_task_goes_on_while_its_engine_is_killed_and_started_again(self, bench: Bench) -> None:
        launched = await bench.launch(WAITS_FOR_GO, attempt=0)
        await bench.until_logged(launched, b"ready")
        stopped = await bench.launch(RUNS_LONG, attempt=1)
        await asyncio.to_thread(self.engine.kill)
        assert (await bench.see_one(launched)).state is TaskState.RUNNING
        with pytest.raises(EngineUnavailable, match="does not answer"):
            await bench.launch("true", attempt=2)
        await bench.engine.stop(stopped, grace_s=20)
        assert await bench.exit_code(stopped) == 143
        await asyncio.to_thread(self.engine.start)
        assert (await bench.see_one(launched)).state is TaskState.RUNNING
        let_go(bench, launched, 9)
        assert await bench.exit_code(launched) == 9
        assert await bench.exit_code(await bench.launch("exit 4", attempt=2)) == 4
        for one in (launched, stopped):
            await bench.engine.stop(one, grace_s=0)
            await until_removed(self, one)

    @on_loop
    async def test_1_a_server_killed_between_create_and_start_is_taken_over(self, bench: Bench) -> None:
        request = bench.compile("echo once; exit 3")
        create(self, request, start=False)
        launched = bench.attempt_of(request)
        assert (await bench.see_one(launched)).state is TaskState.WAITING
        await bench.engine.launch(request)
        assert await bench.exit_code(launched) == 3
        assert bench.log(launched) == b"once\n"

    @on_loop
    async def test_1_a_server_killed_right_after_a_start_finds_the_task_again(self, bench: Bench) -> None:
        request = bench.compile(f"echo once; {WAITS_FOR_GO}")
        create(self, request, start=True)
        launched = bench.attempt_of(request)
        await bench.until_logged(launched, b"ready")
        assert (await bench.see_one(launched)).state is TaskState.RUNNING
        await bench.engine.launch(request)
        let_go(bench, launched, 5)
        assert await bench.exit_code(launched) == 5
        assert bench.log(launched) == b"once\nready\n"

    @on_loop
    async def test_1_an_end_before_anybody_noticed_the_start_is_learned(self, bench: Bench) -> None:
        request = bench.compile("exit 6")
        create(self, request, start=True)
        launched = bench.attempt_of(request)
        await_that((bench.task(launched) / "exit").exists)
        await bench.engine.launch(request)
        (seen,) = await bench.see(launched)
        assert (seen.state, seen.exit_code) == (TaskState.EXITED, 6)
        assert seen.started_at is not None
        assert seen.finished_at is not None
        assert seen.started_at <= seen.finished_at

    @on_loop
    async def test_2_stop_removes_a_container_that_was_never_started(self, bench: Bench) -> None:
        request = bench.compile(RUNS_LONG)
        create(self, request, start=False)
        launched = bench.attempt_of(request)
        await bench.engine.stop(launched, grace_s=5)
        assert containers_of(self, launched) == []
        await bench.engine.launch(request)
        assert (await bench.see_one(launched)).exit_code == 143
        assert containers_of(self, launched) == []

    @on_loop
    async def test_2_a_container_that_comes_up_after_a_stop_does_nothing(self, bench: Bench) -> None:
        request = bench.compile("echo ran")
        launched = bench.attempt_of(request)
        make_folders(request, request["tasks"], "")
        await bench.engine.stop(launched, grace_s=5)
        create(self, request, start=True)
        await_that(lambda: [one["State"] for one in containers_of(self, launched)] == ["exited"])
        assert bench.log(launched) == b""
        assert (await bench.see_one(launched)).exit_code == 143

    @on_loop
    async def test_2_after_stop_no_container_is_left(self, bench: Bench) -> None:
        launched = await bench.launch(RoleSpec(RUNS_LONG, count=3))
        assert len(containers_of(self, launched)) == 3
        await bench.engine.stop(launched, grace_s=20)
        assert containers_of(self, launched) == []

    @on_loop
    async def test_3_a_container_killed_from_outside_is_lost(self, bench: Bench) -> None:
        launched = await bench.launch(RUNS_LONG)
        # The engine has a process as soon as it has made the container; what it runs comes after.
        await_that(lambda: has_begun(bench.task(launched)))
        os.kill(first_process(bench, launched), signal.SIGKILL)
        (seen,) = await bench.until_over(launched)
        assert seen.state is TaskState.LOST
        assert str(seen.detail).endswith(
            "killed from outside before it could record an exit code; the container's exit code was 137"
        )
        await until_removed(self, launched)

    @on_loop
    async def test_a_name_that_is_taken_by_somebody_elses_container_is_an_error(self, bench: Bench) -> None:
        request = bench.compile("true")
        name = container_name(key_of(request, request["tasks"][0]))
        with self.engine.client() as client:
            body = {"Image": engines.BUSYBOX, "Cmd": ["/bin/true"]}
            client.post("/containers/create", params={"name": name}, json=body).raise_for_status()
        with pytest.raises(EngineUnavailable, match="which this server has not made"):
            await bench.engine.launch(request)

    @on_loop
    async def test_an_image_without_a_shell_is_refused_and_leaves_nothing(self, bench: Bench) -> None:
        request = bench.compile(RoleSpec("true", image=engines.NO_SHELL))
        with pytest.raises(EngineRejected, match="has no /bin/sh"):
            await bench.engine.launch(request)
        assert containers_of(self, bench.attempt_of(request)) == []

    @on_loop
    async def test_a_small_image_without_bash_runs_commands_too(self, bench: Bench) -> None:
        role = RoleSpec("echo one; echo $RANK; pwd; false; echo two", image=engines.BUSYBOX)
        launched = await bench.launch(role)
        assert await bench.exit_code(launched) == 1
        work = bench.task(launched) / "work"
        assert bench.log(launched).decode() == f"one\n0\n{work}\n"

    @on_loop
    async def test_steps_of_a_launch_are_told_with_times(self, bench: Bench) -> None:
        steps = listen(bench)
        await bench.until_over(await bench.launch(RoleSpec("true", count=2)))
        assert [(step.name, step.is_done) for step in steps] == [("image", True), ("container", True)]
        assert str(steps[1].said) == "2 containers were created and started"
        assert all(step.seconds > 0 for step in steps)

    @on_loop
    async def test_an_image_is_pulled_once_for_all_that_wait_for_it(self, bench: Bench) -> None:
        with registry(self.engine, bench.folder / "registry") as image:
            steps = listen(bench)
            roles = RoleSpec("exit 3", image=image, count=2)
            all_launched = await asyncio.gather(
                *(bench.launch(roles, attempt=attempt) for attempt in range(2))
            )
            for launched in all_launched:
                assert [one.exit_code for one in await bench.until_over(launched)] == [3, 3]
        told = [str(step.said) for step in steps if step.name == "image"]
        assert told.count(f"pulling image {image}") == 1
        assert told.count(f"image {image} was pulled") == 1
        assert told.count(f"image {image} is on this machine") == 1

    @on_loop
    async def test_a_private_image_needs_a_login(self, bench: Bench) -> None:
        asked: list[tuple[str, str]] = []
        passwords = {"good": LOGIN[1], "bad": "wrong"}

        async def find(attempt_id: str, secret: str) -> RegistryLogin:
            asked.append((attempt_id, secret))
            return RegistryLogin(image.partition("/")[0], LOGIN[0], passwords[secret])

        with registry(self.engine, bench.folder / "registry", is_private=True) as image:
            assert isinstance(bench.engine, LocalEngine)
            bench.engine.use_logins(find)
            with pytest.raises(EngineRejected, match="image_credentials"):
                await bench.launch(RoleSpec("true", image=image), attempt=0)
            with pytest.raises(EngineRejected, match="did not accept the user ann"):
                await bench.launch(
                    RoleSpec("true", image=image), attempt=1, spec={"image_credentials": "bad"}
                )
            request = bench.compile(
                RoleSpec("exit 3", image=image), attempt=2, spec={"image_credentials": "good"}
            )
            assert await bench.exit_code(await bench.start(request)) == 3
        assert asked == [(f"{request['attempt_id'][:-2]}.1", "bad"), (request["attempt_id"], "good")]
        assert LOGIN[1] not in json.dumps(request)

    @on_loop
    async def test_an_image_that_is_nowhere_is_refused(self, bench: Bench) -> None:
        with registry(self.engine, bench.folder / "registry") as image:
            missing = image.replace(":1", ":nothing")
            with pytest.raises(EngineRejected, match="check the name of the image and its tag"):
                await bench.launch(RoleSpec("true", image=missing))
        with pytest.raises(EngineUnavailable, match="cannot be pulled"):
            await bench.launch(RoleSpec("true", image=missing), attempt=1)

    @on_loop
    async def test_6_out_of_memory_is_told_with_numbers(self, bench: Bench) -> None:
        command = "head -c 200000000 /dev/zero | tail >/dev/null || exit 9"
        launched = await bench.launch(command, resources=Resources(1000, 64 * MIB))
        (seen,) = await bench.until_over(launched)
        assert (seen.state, seen.exit_code, seen.cause) == (TaskState.EXITED, 9, "oom")
        assert seen.limit_bytes == 64 * MIB
        assert seen.peak_bytes is not None
        assert seen.peak_bytes > 60 * MIB
        assert str(seen.detail).startswith("out of memory: its limit is 64MB")

    @on_loop
    async def test_a_failed_task_is_kept_until_it_is_stopped(self, bench: Bench) -> None:
        request = bench.compile(
            "echo lost >scratch; cd /; touch /inside; exit 7", spec={"keep_on_failure_s": 60}
        )
        assert isinstance(bench.engine, LocalEngine)
        launched = await bench.start(request)
        assert await bench.exit_code(launched) == 7
        ran = await run(bench.engine, request, "main", 0, ["sh", "-c", "pwd; cat scratch; ls /inside"])
        work = bench.task(launched) / "work"
        assert ran.output.decode() == f"{work}\nlost\n/inside\n"
        await bench.restart()
        assert await bench.exit_code(launched) == 7
        assert [one["State"] for one in containers_of(self, launched)] == ["running"]
        # Longer than a test may take: nobody waits for the grace of what is over.
        await bench.engine.stop(launched, grace_s=3600)
        assert containers_of(self, launched) == []
        assert await bench.exit_code(launched) == 7

    @on_loop
    async def test_a_task_that_is_stopped_cannot_be_entered(self, bench: Bench) -> None:
        request = bench.compile("trap '' TERM; echo ready; while :; do sleep 0.1; done")
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        launched = await bench.start(request)
        await bench.until_logged(launched, b"ready")
        stopping = asyncio.create_task(engine.stop(launched, grace_s=1))
        await asyncio.sleep(0)
        with pytest.raises(Conflict, match="main-0 is being stopped"):
            await run(engine, request, "main", 0, ["true"])
        await stopping
        with pytest.raises(Conflict, match="main-0 is being stopped"):
            await run(engine, request, "main", 0, ["true"])

    @on_loop
    async def test_a_command_that_takes_too_long_leaves_nothing_behind(self, bench: Bench) -> None:
        request = bench.compile("echo ready; sleep 600")
        engine = bench.engine
        assert isinstance(engine, LocalEngine)
        launched = await bench.start(request)
        await bench.until_logged(launched, b"ready")
        command = "(setsid sleep 3041 & sleep 3042) & sleep 3043"
        ran = await run(engine, request, "main", 0, ["sh", "-c", command], timeout_s=1)
        assert (ran.exit_code, ran.timed_out) == (124, True)
        below = descendants(first_process(bench, launched))
        lines = [one.info["cmdline"] for one in psutil.process_iter(["cmdline"]) if one.pid in below]
        assert lines == [["sleep", "600"]]

    @on_loop
    async def test_a_task_that_succeeds_is_not_kept(self, bench: Bench) -> None:
        launched = await bench.launch("true", spec={"keep_on_failure_s": 60})
        assert await bench.exit_code(launched) == 0
        await until_removed(self, launched)

    @on_loop
    async def test_containers_of_forgotten_attempts_are_swept(self, bench: Bench) -> None:
        kept = await bench.launch(RUNS_LONG, attempt=0)
        forgotten = await bench.launch(RUNS_LONG, attempt=1)
        never_started = bench.compile(RUNS_LONG, attempt=2)
        create(self, never_started, start=False)
        assert isinstance(bench.engine, LocalEngine)
        await bench.engine.sweep({kept.id})
        assert len(containers_of(self, kept)) == 1
        assert containers_of(self, forgotten) == []
        assert containers_of(self, bench.attempt_of(never_started)) == []

    @on_loop
    async def test_without_the_right_to_signal_the_engine_is_asked_to(self, bench: Bench) -> None:
        assert isinstance(bench.engine, LocalEngine)
        bench.engine._containers._may_signal = False
        polite = await bench.launch("trap 'echo saved; exit 0' TERM; echo ready; sleep 600 & wait", attempt=0)
        stubborn = await bench.launch("trap '' TERM; echo ready; sleep 600", attempt=1)
        for launched in (polite, stubborn):
            await bench.until_logged(launched, b"ready")
        await bench.engine.stop(polite, grace_s=20)
        assert bench.log(polite) == b"ready\nsaved\n"
        assert await bench.exit_code(polite) == 0
        await bench.engine.stop(stubborn, grace_s=0.2)
        assert await bench.exit_code(stubborn) == 137
        assert containers_of(self, stubborn) == []

    @on_loop
    async def test_device_files_of_a_tasks_cards_are_all_that_it_sees(self, bench: Bench) -> None:
        dev = bench.folder / "dev"
        dev.mkdir()
        for name in ("nvidia0", "nvidia1", "nvidia2", "nvidiactl"):
            # Each of them is /dev/null.
            os.mknod(dev / name, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        request = bench.compile("cd /dev; ls -d nvidia*; echo x >nvidia1", gpus={"main": (1,)})
        create(self, request, start=True, dev=dev)
        launched = await bench.start(request)
        assert await bench.exit_code(launched) == 0
        assert bench.log(launched) == b"nvidia1\nnvidiactl\n"


def listen(bench: Bench) -> list[Step]:
    steps: list[Step] = []
    assert isinstance(bench.engine, LocalEngine)
    bench.engine.on_step(steps.append)
    return steps


@contextlib.contextmanager
def registry(engine: ContainerEngine, folder: Path, is_private: bool = False) -> Iterator[str]:
    """A registry with one image that the engine does not have."""
    try:
        with engines.running_registry(folder, is_private) as found:
            image = f"{found.address}/tests/busybox:1"
            engine.push(engines.BUSYBOX, image, LOGIN if is_private else None)
            engine.remove_image(image)
            yield image
            engine.remove_image(image)
    except ContainerEngineMissing as error:
        pytest.skip(str(error))


class TestPodman(ContainerContract, ProcessContract):
    @pytest.fixture(autouse=True)
    def _engine(self, podman: ContainerEngine) -> None:
        self.engine = podman

    @on_loop
    async def test_many_tasks_are_started_and_stopped_together(self, bench: Bench) -> None:
        launched = await bench.launch(RoleSpec(RUNS_LONG, count=12))
        assert {one.state for one in await bench.see(launched)} == {TaskState.RUNNING}
        await bench.engine.stop(launched, grace_s=20)
        assert {one.exit_code for one in await bench.see(launched)} == {143}
        assert containers_of(self, launched) == []

    @on_loop
    async def test_a_container_that_was_removed_by_half_is_no_hindrance(self, bench: Bench) -> None:
        kept = await bench.launch(RUNS_LONG, attempt=0)
        request = bench.compile(RUNS_LONG, attempt=1)
        create(self, request, start=False)
        name = container_name(key_of(request, request["tasks"][0]))
        self.engine.kill()
        # As it is when Podman is killed during a removal.
        file = self.engine.folder / "root" / "overlay-containers" / "containers.json"
        stored = json.loads(file.read_text())
        file.write_text(json.dumps([one for one in stored if name not in one["names"]]))
        self.engine.start()
        with self.engine.client() as client:
            assert client.get("/containers/json", params={"all": "true"}).status_code == 500
        assert isinstance(bench.engine, LocalEngine)
        await bench.engine.sweep({kept.id})
        assert len(containers_of(self, kept)) == 1
        assert containers_of(self, bench.attempt_of(request)) == []

    @on_loop
    async def test_an_engine_killed_during_launches_starts_every_task_once(self, bench: Bench) -> None:
        async def keep_trying(attempt: int) -> Attempt:
            request = bench.compile(RoleSpec("echo once; exit 3", count=2), attempt=attempt)
            while True:
                try:
                    return await bench.start(request)
                except EngineError:
                    await asyncio.sleep(0.1)

        launches = [asyncio.create_task(keep_trying(attempt)) for attempt in range(6)]
        for pause_s in (0.15, 0.3, 0.45):
            await asyncio.sleep(pause_s)
            await asyncio.to_thread(self.engine.kill)
            await asyncio.to_thread(self.engine.start)
        for launched in await asyncio.gather(*launches):
            assert [one.exit_code for one in await bench.until_over(launched)] == [3, 3]
            assert [bench.log(launched, index=index) for index in range(2)] == [b"once\n"] * 2


class TestDocker(ContainerContract, EngineContract):
    @pytest.fixture(autouse=True)
    def _engine(self, docker: ContainerEngine) -> None:
        self.engine = docker
