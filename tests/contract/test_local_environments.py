"""Environments of the local engine: built by uv from a folder of packages, confined, kept and shared."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import tempfile
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from localbench import WithEngine

from footplate.domain.errors import Conflict, EngineRejected, EngineUnavailable, NotFound
from footplate.domain.spec import EnvironmentSpec
from footplate.engines.base import Step
from footplate.engines.local.environments.settings import EnvironmentSettings
from footplate.engines.local.process.processes import marked
from footplate.testing.engine_bench import Bench, on_loop, until, upload
from footplate.testing.packages import WAITS, builders, lock_project, make_source, make_wheel, running_index

IMPORTS = "python -c 'import tiny; print(\"tiny\", tiny.VERSION)'"
EVERYBODY: Any = type("Everybody", (), {"__contains__": lambda self, _: True})()


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages, the only place from which anything is installed."""
    if not os.access("/var/lib", os.W_OK):
        pytest.skip("packages must lie where tasks see them, and /var/lib is not writable")
    place = Path(tempfile.mkdtemp(prefix="footplate-packages-", dir="/var/lib"))
    place.chmod(0o755)
    make_wheel(place, "tiny")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    yield place
    shutil.rmtree(place)


def asking(*requirements: str, **more: Any) -> dict[str, Any]:
    return {"spec": {"environment": EnvironmentSpec(requirements or ("tiny",), **more)}}


def steps_of(bench: Bench) -> list[Step]:
    steps: list[Step] = []
    bench.engine.on_step(steps.append)  # type: ignore[attr-defined]
    return steps


def code_with(bench: Bench, **files: str) -> Any:
    folder = bench.folder / "code"
    for name, text in files.items():
        file = folder / name.replace("__", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return upload(folder)


@contextlib.contextmanager
def micromamba(script: str) -> Iterator[None]:
    """Stand in for the program, of which no index of ours has one: `create --yes --prefix $4 --file $6`."""
    folder = os.environ["PIP_FIND_LINKS"]
    program = Path(folder, "micromamba")
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", folder, prepend=":")
        yield


def asking_conda(bench: Bench) -> dict[str, Any]:
    code = code_with(bench, environment__yml="dependencies: [tiny]\n")
    return {"environment": EnvironmentSpec(conda="environment.yml"), "code": code}


async def kept(bench: Bench, known: Any = EVERYBODY) -> list[Any]:
    return list(await bench.engine.environments(known))  # type: ignore[attr-defined]


class TestEnvironments(WithEngine):
    @on_loop
    async def test_listed_requirements_are_installed_and_told_as_a_step(self, bench: Bench) -> None:
        steps = steps_of(bench)
        launched = await bench.launch(IMPORTS, **asking())
        assert await bench.exit_code(launched) == 0
        assert bench.log(launched) == b"tiny 1.0\n"
        assert [step.name for step in steps if step.is_done] == ["environment"]
        assert str(steps[-1].said) == "the environment of tiny was built"
        (built,) = await kept(bench)
        assert (built.owner, built.what, built.attempts) == ("ann", "tiny", (launched.id,))
        assert built.size_bytes > 0

    @on_loop
    async def test_a_requirements_file_of_the_code_is_used(self, bench: Bench) -> None:
        code = code_with(bench, requirements__txt="# mine\ntiny==1.0\n")
        wish = {"environment": EnvironmentSpec("requirements.txt"), "code": code}
        launched = await bench.launch(IMPORTS, spec=wish)
        assert await bench.exit_code(launched) == 0

    @on_loop
    async def test_a_file_that_names_the_code_itself_is_built_with_the_code(self, bench: Bench) -> None:
        code = code_with(
            bench,
            requirements__txt="-r more.txt\n",
            more__txt="tiny\n",
        )
        wish = {"environment": EnvironmentSpec("requirements.txt"), "code": code}
        assert await bench.exit_code(await bench.launch(IMPORTS, spec=wish)) == 0

    @on_loop
    async def test_the_dependencies_of_a_project_are_installed(self, bench: Bench) -> None:
        project = '[project]\nname = "mine"\nversion = "1"\ndependencies = ["tiny"]\n'
        wish = {
            "environment": EnvironmentSpec(pyproject="pyproject.toml"),
            "code": code_with(bench, pyproject__toml=project),
        }
        assert await bench.exit_code(await bench.launch(IMPORTS, spec=wish)) == 0

    @on_loop
    async def test_a_locked_project_is_installed_as_locked(self, bench: Bench) -> None:
        folder, packages = bench.folder / "code", bench.folder / "index"
        folder.mkdir()
        make_wheel(packages / "tiny", "tiny", "0.8")
        with running_index(packages) as index, pytest.MonkeyPatch.context() as patch:
            lock_project(folder, index, "tiny")
            # A newer one comes after the lock was made.
            make_wheel(packages / "tiny", "tiny", "0.9")
            patch.delenv("PIP_NO_INDEX")
            await bench.restart()
            wish = {"environment": EnvironmentSpec(pyproject="pyproject.toml"), "code": upload(folder)}
            launched = await bench.launch(IMPORTS, spec=wish)
            assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched) == b"tiny 0.8\n"

    @on_loop
    async def test_a_conda_file_goes_to_the_program_for_it(self, bench: Bench) -> None:
        makes = 'mkdir -p "$4/bin" && ln -s "$(command -v python3)" "$4/bin/python" && cp "$6" "$4"'
        shows = (
            '[ "$(command -v python)" = "$CONDA_PREFIX/bin/python" ] && cat "$CONDA_PREFIX/environment.yml"'
        )
        with micromamba(makes):
            await bench.restart()
            launched = await bench.launch(shows, spec=asking_conda(bench))
            assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched) == b"dependencies: [tiny]\n"
        (built,) = await kept(bench)
        assert (built.kind, built.what) == ("conda", "environment.yml")

    @on_loop
    async def test_a_conda_file_that_cannot_be_solved_says_why(self, bench: Bench) -> None:
        with micromamba("echo 'nothing provides tiny' >&2; exit 1"):
            await bench.restart()
            with pytest.raises(EngineRejected, match="nothing provides tiny"):
                await bench.launch("true", spec=asking_conda(bench))
        assert await kept(bench) == []

    @on_loop
    async def test_an_environment_is_built_once_and_found_again_after_a_restart(self, bench: Bench) -> None:
        await bench.exit_code(await bench.launch(IMPORTS, **asking()))
        await bench.restart()
        steps = steps_of(bench)
        second = await bench.launch(IMPORTS, attempt=1, **asking())
        assert await bench.exit_code(second) == 0
        assert [str(step.said) for step in steps] == ["the environment of tiny is there already"]
        assert len(await kept(bench)) == 1

    @on_loop
    async def test_launches_that_come_together_wait_for_one_build(self, bench: Bench) -> None:
        place = Path(os.environ["PIP_FIND_LINKS"])
        make_source(place, "counted", on_build=COUNTS)
        launches = [
            bench.launch("python -c 'import counted'", attempt=n, **asking("counted")) for n in range(3)
        ]
        for launched in await asyncio.gather(*launches):
            assert await bench.exit_code(launched) == 0
        (person,) = (bench.home / "people").iterdir()
        assert (person / "built").read_text() == "built\n"

    @on_loop
    async def test_tasks_cannot_change_their_environment(self, bench: Bench) -> None:
        self.needs(bench, "files")
        command = 'touch "$VIRTUAL_ENV/lib/mine" || echo kept; rm -rf "$VIRTUAL_ENV"/lib || true; ' + IMPORTS
        launched = await bench.launch(command, **asking())
        assert await bench.exit_code(launched) == 0
        assert b"kept" in bench.log(launched)
        assert b"Read-only file system" in bench.log(launched)

    @on_loop
    async def test_people_do_not_share_what_they_have_built(self, bench: Bench) -> None:
        await bench.exit_code(await bench.launch(IMPORTS, **asking()))
        other = await bench.launch(IMPORTS, attempt=1, owner="bob", owner_number=1, **asking())
        assert await bench.exit_code(other) == 0
        assert sorted(one.owner for one in await kept(bench)) == ["ann", "bob"]

    @on_loop
    async def test_a_build_is_confined_like_a_task_of_its_owner(self, bench: Bench) -> None:
        self.needs(bench, "files")
        (bench.home / "secret").write_text("the server's")
        place = Path(os.environ["PIP_FIND_LINKS"])
        make_source(place, "curious", on_build=LOOKS.format(secret=str(bench.home / "secret")))
        launched = await bench.launch("cat ~/seen", **asking("curious"))
        assert await bench.exit_code(launched) == 0
        seen = json.loads(bench.log(launched))
        assert seen["secret"] == "hidden"
        if "accounts" in bench.engine.capabilities.limits:
            assert int(seen["outside"]) != 0

    @on_loop
    async def test_a_failed_build_says_what_uv_said_and_leaves_nothing(self, bench: Bench) -> None:
        steps = steps_of(bench)
        with pytest.raises(EngineRejected) as refused:
            await bench.launch(IMPORTS, **asking("no-such-package"))
        assert str(steps[-1].said) == "the environment of no-such-package could not be built"
        assert steps[-1].is_done
        assert "no-such-package was not found" in str(refused.value)
        assert await kept(bench) == []
        assert list((bench.home / "environments").glob("*/records/*")) == []

    @on_loop
    async def test_a_file_that_is_not_in_the_code_is_named(self, bench: Bench) -> None:
        wish = {"environment": EnvironmentSpec("missing.txt"), "code": code_with(bench, train__py="")}
        with pytest.raises(EngineRejected, match=r"missing\.txt is not in the code"):
            await bench.launch(IMPORTS, spec=wish)

    @on_loop
    async def test_who_is_abandoned_ends_the_build_unless_others_wait(self, bench: Bench) -> None:
        place = Path(os.environ["PIP_FIND_LINKS"])
        make_source(place, "slow", on_build=WAITS)
        first, second = (
            asyncio.create_task(bench.launch("python -c 'import slow'", attempt=n, **asking("slow")))
            for n in range(2)
        )
        await until(lambda: is_building(bench))
        bench.engine.abandon(f"{bench.job_id}.0")  # type: ignore[attr-defined]
        with pytest.raises(EngineUnavailable, match="no longer needed"):
            await first
        assert await is_building(bench)
        bench.engine.abandon(f"{bench.job_id}.1")  # type: ignore[attr-defined]
        with pytest.raises(EngineUnavailable, match="no longer needed"):
            await second
        assert builders(bench.home) == []
        assert list((bench.home / "environments").glob("*/records/*")) == []

    @on_loop
    async def test_one_that_is_being_built_is_listed_with_its_log_and_not_removed(self, bench: Bench) -> None:
        make_source(Path(os.environ["PIP_FIND_LINKS"]), "slow", on_build=WAITS)
        launching = asyncio.create_task(bench.launch("true", **asking("slow")))
        engine: Any = bench.engine
        await until(lambda: is_building(bench))
        (building,) = await kept(bench)
        assert (building.what, building.owner, building.is_building) == ("slow", "ann", True)
        assert building.attempts == (f"{bench.job_id}.0",)
        assert isinstance(await engine.environment_log(building.id), str)
        with pytest.raises(Conflict):
            await engine.remove_environment(building.id, ())
        engine.abandon(f"{bench.job_id}.0")
        with pytest.raises(EngineUnavailable):
            await launching
        assert await kept(bench) == []

    @on_loop
    async def test_the_log_of_a_build_says_what_was_installed(self, bench: Bench) -> None:
        await bench.exit_code(await bench.launch(IMPORTS, **asking()))
        engine: Any = bench.engine
        (built,) = await kept(bench)
        assert not built.is_building
        log = await engine.environment_log(built.id)
        assert "tiny==1.0" in log
        # Where it lies on the machine is nobody's business.
        assert str(bench.home) not in log
        with pytest.raises(NotFound):
            await engine.environment_log("none")

    @on_loop
    async def test_who_is_abandoned_at_once_leaves_no_build(self, bench: Bench) -> None:
        make_source(Path(os.environ["PIP_FIND_LINKS"]), "slow", on_build=WAITS)
        for attempt, look in enumerate((begun, begun, claimed)):
            launching = asyncio.create_task(bench.launch("true", attempt=attempt, **asking("slow")))
            await until(lambda look=look: look(bench))
            bench.engine.abandon(f"{bench.job_id}.{attempt}")  # type: ignore[attr-defined]
            with pytest.raises(EngineUnavailable, match="no longer needed"):
                await launching
            assert uses_of(bench) == []

    @on_loop
    async def test_a_build_outlives_the_server_and_is_waited_for_again(self, bench: Bench) -> None:
        place = Path(os.environ["PIP_FIND_LINKS"])
        make_source(place, "slow", on_build=WAITS)
        command = "python -c 'import slow; print(slow.VERSION)'"
        launching = asyncio.create_task(bench.launch(command, **asking("slow")))
        await until(lambda: is_building(bench))
        before = builders(bench.home)
        await bench.restart()
        with pytest.raises(EngineUnavailable):
            await launching
        launching = asyncio.create_task(bench.launch(command, **asking("slow")))
        await until(lambda: is_building(bench))
        assert set(before) & set(builders(bench.home))
        (person,) = (bench.home / "people").iterdir()
        (person / "go").touch()
        assert await bench.exit_code(await launching) == 0

    @on_loop
    async def test_one_in_use_is_not_removed_and_one_not_in_use_is(self, bench: Bench) -> None:
        launched = await bench.launch("sleep 60", **asking())
        (built,) = await kept(bench)
        engine: Any = bench.engine
        with pytest.raises(Conflict, match="in use by 1 job"):
            await engine.remove_environment(built.id, EVERYBODY)
        await engine.stop(launched, 0)
        await engine.remove_environment(built.id, ())
        assert await kept(bench) == []
        with pytest.raises(NotFound):
            await engine.remove_environment(built.id, ())

    @on_loop
    async def test_an_existing_environment_is_used_as_it_is(self, bench: Bench) -> None:
        folder = Path(os.environ["PIP_FIND_LINKS"]) / "mine"
        venv.create(folder)
        (site,) = folder.glob("lib/python3*/site-packages")
        (site / "tiny.py").write_text("VERSION = 'of mine'")
        launched = await bench.launch(IMPORTS, spec={"environment": EnvironmentSpec(path=str(folder))})
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched) == b"tiny of mine\n"
        assert await kept(bench) == []

    @on_loop
    async def test_an_existing_environment_that_is_not_there_is_named(self, bench: Bench) -> None:
        wish = {"environment": EnvironmentSpec(path="/opt/no-such-environment")}
        with pytest.raises(EngineRejected, match="/opt/no-such-environment has no bin/python"):
            await bench.launch("true", spec=wish)


class TestPipInTasks(WithEngine):
    """A plain `pip install` in a task that has no environment of its own."""

    @on_loop
    async def test_what_a_task_installs_is_there_for_what_it_runs_next(self, bench: Bench) -> None:
        self.needs(bench, "files")
        for pip in ("pip", "pip3", "python -m pip"):
            launched = await bench.launch(f"{pip} install -q tiny\n{IMPORTS}\ntiny", attempt=len(pip))
            assert await bench.exit_code(launched) == 0, bench.log(launched)
            assert bench.log(launched).endswith(b"tiny 1.0\nmain of tiny\n")

    @on_loop
    async def test_a_task_adds_to_its_environment_for_itself(self, bench: Bench) -> None:
        self.needs(bench, "files")
        make_wheel(Path(os.environ["PIP_FIND_LINKS"]), "more")
        command = f"{IMPORTS}\npip install -q more\npython -c 'import more, tiny'\nmore"
        launched = await bench.launch(command, **asking())
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched).endswith(b"main of more\n")
        other = await bench.launch("python -c 'import more'", attempt=1, **asking())
        assert await bench.exit_code(other) == 1

    @on_loop
    async def test_an_environment_has_nothing_of_the_servers(self, bench: Bench) -> None:
        launched = await bench.launch("python -c 'import click'", **asking())
        assert await bench.exit_code(launched) == 1
        assert b"No module named 'click'" in bench.log(launched)

    @on_loop
    async def test_no_other_task_sees_it(self, bench: Bench) -> None:
        self.needs(bench, "files")
        await bench.exit_code(await bench.launch("pip install -q tiny"))
        other = await bench.launch(IMPORTS, attempt=1)
        assert await bench.exit_code(other) == 1
        assert b"No module named 'tiny'" in bench.log(other)

    @on_loop
    async def test_it_goes_before_what_the_server_has(self, bench: Bench) -> None:
        self.needs(bench, "files")
        make_wheel(Path(os.environ["PIP_FIND_LINKS"]), "click", "99.0")
        shows = 'python -c \'import click, yaml; print(getattr(click, "VERSION", "of the server"))\''
        launched = await bench.launch(f"{shows}\npip install -q click==99.0 2>/dev/null\n{shows}")
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched) == b"of the server\n99.0\n"

    @on_loop
    async def test_an_environment_of_ones_own_takes_packages_as_it_ever_did(self, bench: Bench) -> None:
        self.needs(bench, "files")
        command = (
            f"python -m venv --without-pip /tmp/v\nuv pip install -q --python /tmp/v --no-index tiny\n"
            f"/tmp/v/{IMPORTS.replace('python', 'bin/python', 1)}"
        )
        launched = await bench.launch(command)
        assert await bench.exit_code(launched) == 0, bench.log(launched)


class TestClosedServer(WithEngine):
    """A server whose own files nobody else may read."""

    @pytest.fixture(autouse=True)
    def closed(self) -> Iterator[None]:
        before = os.umask(0o077)
        yield
        os.umask(before)

    @on_loop
    async def test_tasks_find_the_packages_of_the_server_all_the_same(self, bench: Bench) -> None:
        self.needs(bench, "files")
        launched = await bench.launch("command -v python; python -c 'import click'")
        assert await bench.exit_code(launched) == 0, bench.log(launched)
        assert bench.log(launched).startswith(os.fsencode(bench.home / "python"))


class TestSlowBuilds(WithEngine):
    settings = MappingProxyType({"environments": EnvironmentSettings(built_within_s=1)})

    @on_loop
    async def test_a_build_that_takes_too_long_is_ended(self, bench: Bench) -> None:
        make_source(Path(os.environ["PIP_FIND_LINKS"]), "slow", on_build=WAITS)
        with pytest.raises(EngineRejected, match="was not built within 1 second"):
            await bench.launch("true", **asking("slow"))
        assert builders(bench.home) == []


class TestFullDisk(WithEngine):
    settings = MappingProxyType({"environments": EnvironmentSettings(least_free_bytes=2**60)})

    @on_loop
    async def test_a_build_that_fills_the_disk_is_ended(self, bench: Bench) -> None:
        with pytest.raises(EngineRejected, match="of the disk were left"):
            await bench.launch("true", **asking())
        assert list((bench.home / "environments").glob("*/records/*")) == []


class TestCleaning(WithEngine):
    settings = MappingProxyType({"environments": EnvironmentSettings(kept_s=1000, most_bytes=1)})

    @on_loop
    async def test_beyond_the_bound_those_in_use_stay(self, bench: Bench) -> None:
        launched = await bench.launch("sleep 60", **asking())
        engine: Any = bench.engine
        await engine.sweep_environments({launched.id})
        assert len(await kept(bench, {launched.id})) == 1
        await engine.sweep_environments(())
        assert await kept(bench, ()) == []


class TestAging(WithEngine):
    settings = MappingProxyType({"environments": EnvironmentSettings(kept_s=1000)})

    @on_loop
    async def test_those_that_nobody_has_used_for_long_go(self, bench: Bench) -> None:
        await bench.exit_code(await bench.launch("true", **asking()))
        engine: Any = bench.engine
        await engine.sweep_environments(())
        assert len(await kept(bench, ())) == 1
        (record,) = (bench.home / "environments").glob("*/records/*/environment.json")
        os.utime(record, (time.time() - 2000,) * 2)
        await engine.sweep_environments(())
        assert await kept(bench, ()) == []


# Each build of an environment makes a wheel of it once, in a folder of its own.
COUNTS = """
def count():
    with open(os.path.expanduser("~/built"), "a") as file:
        file.write("built\\n")
"""
LOOKS = """
import json
def outside():
    with open("/proc/self/uid_map") as file:
        return file.read().split()[1]
try:
    with open({secret!r}) as file:
        secret = file.read()
except OSError:
    secret = "hidden"
with open(os.path.expanduser("~/seen"), "w") as file:
    json.dump({{"secret": secret, "outside": outside()}}, file)
"""


async def begun(bench: Bench) -> bool | None:
    return bool(list((bench.home / "environments").glob("*/records/*/inputs"))) or None


async def claimed(bench: Bench) -> bool | None:
    return bool(list((bench.home / "environments").glob("*/records/*/build/pid"))) or None


def uses_of(bench: Bench) -> list[int]:
    """Find all processes of builds for this home."""
    return list(marked([f"UV_CACHE_DIR={bench.home}/environments/ann-0/files/cache"]))


async def is_building(bench: Bench) -> bool | None:
    """Tell whether a build has come so far that it runs a package's own code."""
    return bool(builders(bench.home)) or None
