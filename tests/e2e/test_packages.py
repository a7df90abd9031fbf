"""What `pip install` gives: a wheel with all in it, a client that says how to become a server."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
import zipfile
from email.parser import HeaderParser
from pathlib import Path
from types import ModuleType

import pytest

from footplate import __version__

ROOT = Path(__file__).resolve().parents[2]


def built(kind: str, root: Path, folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder]
    made = subprocess.run(command, cwd=root, text=True, capture_output=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    (package,) = folder.iterdir()
    return package


@pytest.fixture(scope="module")
def wheel(console: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def client(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of an environment that has the wheel without its server."""
    folder = tmp_path_factory.mktemp("client") / "venv"
    venv.create(folder, with_pip=True, symlinks=True)
    command = [folder / "bin" / "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel]
    installed = subprocess.run(command, text=True, capture_output=True, check=False)
    assert installed.returncode == 0, installed.stderr
    return folder / "bin"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, text=True, capture_output=True, check=False)


def test_a_wheel_holds_the_console_and_the_licence_and_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = f"footplate-{__version__}.dist-info"
        about = HeaderParser().parsestr(archive.read(f"{info}/METADATA").decode())
    assert "footplate/server/static/index.html" in names
    has_program = "footplate/engines/local/process/footplate-init" in names
    assert wheel.stem.endswith("-none-any") != has_program, "a compiled program is for one kind of machine"
    assert has_program == (shutil.which("cc") is not None)
    assert f"{info}/licenses/LICENSE" in names
    assert about["License-Expression"] == "Apache-2.0"
    assert about["Author"] == "The Footplate authors"
    assert about["Keywords"]
    assert "Operating System :: POSIX :: Linux" in about.get_all("Classifier", [])


def test_the_page_of_the_package_shows_nothing_that_only_a_checkout_has(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        page = archive.read(f"footplate-{__version__}.dist-info/METADATA").decode()
    assert "# Footplate" in page
    assert re.findall(r"<img|<picture|docs/images", page) == []
    assert [target for target in re.findall(r"\]\(([^)]+)\)", page) if "://" not in target] == []


def test_a_source_package_brings_the_console_built(console: ModuleType, tmp_path: Path) -> None:
    package = built("sdist", ROOT, tmp_path / "sdist")
    subprocess.run(["tar", "-xzf", package, "-C", tmp_path], check=True)
    unpacked = tmp_path / f"footplate-{__version__}"
    # Without these nothing could be built, so nothing is.
    (unpacked / "console" / "package.json").unlink()
    again = built("wheel", unpacked, tmp_path / "wheel")
    with zipfile.ZipFile(again) as archive:
        assert "footplate/server/static/index.html" in archive.namelist()


def test_the_client_alone_has_the_command_and_says_how_to_get_the_server(client: Path) -> None:
    for command in ([client / "footplate", "--version"], [client / "python", "-m", "footplate", "--version"]):
        said = run(*command)
        assert (said.returncode, said.stdout) == (0, f"footplate {__version__}\n"), said.stderr
    refused = run(client / "footplate", "up")
    assert refused.returncode == 1
    hint = "error: the server is not installed here, only the client: pip install 'footplate[server]'\n"
    assert refused.stderr == hint
