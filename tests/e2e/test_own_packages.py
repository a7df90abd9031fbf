"""My own packages and my own code, with the real command, server, uv and processes."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from footplate.testing.packages import WAITS, builders, make_source, make_wheel
from footplate.testing.process import ServerProcess, await_that

TRAIN = 'import tiny, sys; print("tiny", tiny.VERSION, *sys.argv[1:])\n'


@pytest.fixture(scope="module")
def packages() -> Iterator[Path]:
    """A folder of packages where tasks see it, the only place from which anything is installed."""
    if not os.access("/var/lib", os.W_OK):
        pytest.skip("packages must lie where tasks see them, and /var/lib is not writable")
    place = Path(tempfile.mkdtemp(prefix="footplate-packages-", dir="/var/lib"))
    place.chmod(0o755)
    make_wheel(place, "tiny")
    make_source(place, "slow", on_build=WAITS)
    yield place
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, packages: Path) -> Iterator[ServerProcess]:
    home = tmp_path_factory.mktemp("server") / "home"
    with ServerProcess(home, PIP_FIND_LINKS=str(packages), PIP_NO_INDEX="1") as running:
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "requirements.txt").write_text("tiny\n")
    return tmp_path


def shown(server: ServerProcess, name: str) -> dict[str, Any]:
    view: dict[str, Any] = json.loads(server.command("show", name, "--json").stdout)
    return view


def environments(server: ServerProcess) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(server.command("environments", "--json").stdout)["items"]
    return items


def test_run_sends_the_folder_with_its_packages_and_shows_the_output(
    server: ServerProcess, project: Path
) -> None:
    (project / ".env").write_text("TOKEN=secret")
    for _ in range(2):
        result = server.command("run", "python", "train.py", "--lr", "3", cwd=project)
        assert result.returncode == 0, result.stderr
        assert result.stdout == "tiny 1.0 --lr 3\n"
        assert "left out: .env (may hold secrets" in result.stderr
    assert "the environment of requirements.txt is there already" in result.stderr
    (built,) = environments(server)
    assert built["what"] == "requirements.txt"
    assert built["id"] in server.command("environments").stdout
    removed = server.command("environments", "remove", built["id"])
    assert removed.stdout == f"Removed environment {built['id']}.\n"
    assert environments(server) == []


def test_a_zip_archive_is_unpacked_and_keeps_its_times(server: ServerProcess, project: Path) -> None:
    with zipfile.ZipFile(project / "code.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo("data/old.txt", (2001, 2, 3, 4, 5, 6)), "old")
    command = "cat data/old.txt && date -u -r data/old.txt +%F"
    result = server.command("submit", "-n", "zipped", "-f", "--code", "code.zip", "--", command, cwd=project)
    assert result.stdout == "old2001-02-03\n", result.stderr


def test_files_keep_their_times(server: ServerProcess, project: Path) -> None:
    os.utime(project / "train.py", (1_000_000_000, 1_000_000_000))
    command = ["--no-requirements", "date", "-u", "-r", "train.py", "+%s"]
    result = server.command("run", *command, cwd=project)
    assert result.stdout == "1000000000\n", result.stderr


def test_a_package_that_cannot_be_had_fails_the_job_with_the_words_of_uv(
    server: ServerProcess, project: Path
) -> None:
    (project / "requirements.txt").write_text("no-such-package==7\n")
    result = server.command("run", "-n", "hopeless", "python", "train.py", cwd=project)
    assert result.returncode != 0
    assert "no-such-package was not found" in result.stderr
    assert shown(server, "hopeless")["state"] == "FAILED"


def test_a_stop_ends_the_build(server: ServerProcess, project: Path) -> None:
    (project / "requirements.txt").write_text("slow\n")
    server.command("run", "--detach", "-n", "slow", "python", "train.py", cwd=project)
    await_that(lambda: builders(server.home) != [], what="the package is built")
    assert server.command("stop", "slow").returncode == 0
    await_that(lambda: shown(server, "slow")["state"] == "STOPPED", what="the job is stopped")
    assert builders(server.home) == []
    assert list((server.home / "environments").glob("*/records/*")) == []


def test_a_build_goes_on_while_the_server_is_killed(server: ServerProcess, project: Path) -> None:
    (project / "requirements.txt").write_text("slow\n")
    (project / "train.py").write_text("import slow; print(slow.VERSION)")
    server.command("run", "--detach", "-n", "goes-on", "python", "train.py", cwd=project)
    before = await_that(lambda: builders(server.home), what="the package is built")
    server.kill()
    server.start()
    (person,) = (server.home / "people").iterdir()
    assert set(before) & set(builders(server.home))
    (person / "go").touch()
    assert server.command("wait", "goes-on", "--timeout", "60s").returncode == 0
    assert server.command("logs", "goes-on").stdout == "1.0\n"
