"""The commands of the Makefile where a machine has less than ours: no Node, no python3-venv, no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Collection
from pathlib import Path
from types import ModuleType

import pytest

from footplate.testing.process import processes_of

ROOT = Path(__file__).resolve().parents[2]
NODE = {"node", "nodejs", "npm", "npx", "corepack"}

OF_MAKE = {"CLIENTS", "FRAMEWORKS", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS"}


def path_without(hidden: Collection[str], folder: Path) -> str:
    """All commands of this machine except some."""
    folder.mkdir()
    for place in os.get_exec_path():
        for command in Path(place).iterdir() if Path(place).is_dir() else ():
            link = folder / command.name
            if command.name not in hidden and not link.is_symlink():
                link.symlink_to(command)
    return str(folder)


# What the build itself writes.
MADE = {
    "console/src/api/schema.ts",
    "console/src/messages/codes.ts",
    "console/src/messages/en.ts",
    "console/src/messages/zh.ts",
}


def copy_of_the_checkout(folder: Path, *, with_packages: bool) -> Path:
    """What the console is built from, and nothing that was made."""
    shutil.copytree(
        ROOT / "console",
        folder / "console",
        ignore=shutil.ignore_patterns("node_modules", ".npm-cache", "test-results"),
    )
    for name in MADE:
        (folder / name).unlink(missing_ok=True)
    if with_packages:
        # Links, since it is large.
        subprocess.run(["cp", "-al", ROOT / "console" / "node_modules", folder / "console"], check=True)
    for name in ("constraints.txt", "docs/reference/openapi.json", "tools/console.py", "tools/messages.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "src/footplate/domain", folder / "src/footplate/domain")
    shutil.copy(ROOT / "src/footplate/__init__.py", folder / "src/footplate")
    (folder / "src" / "footplate" / "server").mkdir()
    return folder


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has pip and nothing else."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(folder, with_pip=True, symlinks=True)
    return folder / "bin" / "python"


def build(
    checkout: Path, python: Path, path: str, *words: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "tools/console.py", *words],
        cwd=checkout,
        env={**os.environ, "PATH": path, **environment},
        text=True,
        capture_output=True,
        check=False,
    )


def test_the_console_is_built_where_there_is_no_node(
    console: ModuleType, bare_python: Path, tmp_path: Path
) -> None:
    console.install()
    checkout = copy_of_the_checkout(tmp_path / "checkout", with_packages=True)
    built = build(checkout, bare_python, path_without(NODE, tmp_path / "bin"))
    assert built.returncode == 0, built.stdout + built.stderr
    assert "getting Node from PyPI" in built.stdout
    assert "first load" not in built.stdout
    assert (checkout / "src" / "footplate" / "server" / "static" / "index.html").is_file()
    packages = subprocess.run([bare_python, "-m", "pip", "list"], text=True, capture_output=True, check=True)
    assert "nodejs" not in packages.stdout


def test_what_cannot_be_built_is_told_and_left_out(bare_python: Path, tmp_path: Path) -> None:
    checkout = copy_of_the_checkout(tmp_path / "checkout", with_packages=False)
    unreachable = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "0"}
    path = os.environ["PATH"]
    refused = build(checkout, bare_python, path, **unreachable)
    assert refused.returncode == 1
    assert "npm ci --no-audit --no-fund failed" in refused.stderr
    without = build(checkout, bare_python, path, "--or-without", **unreachable)
    assert without.returncode == 0
    *_, why, so = without.stdout.splitlines()
    assert why.startswith("npm ci --no-audit --no-fund failed: npm error code E")
    assert so.startswith("So there is no web console; all else works.")
    assert not (checkout / "console" / "node_modules").exists()
    assert not (checkout / "console" / ".npm-cache").exists()


def test_every_module_of_the_console_counts_for_whether_it_is_current(console: ModuleType) -> None:
    found = set(console.sources())
    modules = set((ROOT / "console" / "src").rglob("*.ts*"))
    assert {str(path.relative_to(ROOT)) for path in modules - found} == MADE


@pytest.mark.parametrize(
    ("version", "is_new"),
    [
        ("v18.20.4\n", False),
        ("v20.18.9\n", False),
        ("v20.19.0\n", True),
        ("v21.7.0\n", False),
        ("v22.11.0\n", False),
        ("v22.12.0\n", True),
        ("v24.19.0\n", True),
        ("", False),
        ("node: not found\n", False),
    ],
)
def test_only_a_node_that_vite_knows_is_taken(console: ModuleType, version: str, is_new: bool) -> None:
    assert console.is_new_enough(version) is is_new


def test_node_trusts_what_the_system_trusts_unless_told_otherwise(
    console: ModuleType, tmp_path: Path
) -> None:
    bundle = tmp_path / "site.pem"
    bundle.touch()
    trusting = console.trusting_the_system({"SSL_CERT_FILE": str(bundle)})
    assert trusting["NODE_EXTRA_CA_CERTS"] == str(bundle)
    asked = {"SSL_CERT_FILE": str(bundle), "NODE_EXTRA_CA_CERTS": "/mine.pem"}
    assert console.trusting_the_system(asked) == asked


@pytest.fixture
def bare_checkout(tmp_path: Path) -> Path:
    """The Makefile with `tools/setup`, and nothing to install."""
    folder = tmp_path / "checkout"
    (folder / "tools").mkdir(parents=True)
    for name in ("Makefile", "tools/setup", "pyproject.toml", "constraints.txt", ".gitignore"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def test_a_python_that_makes_no_environments_is_told_with_the_line_to_type(
    bare_checkout: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "bin"
    path = path_without({"apt-get", "python3"}, folder)
    (folder / "python3").write_text(
        f'#!/bin/sh\ncase "$*" in *ensurepip*) exit 1;; esac\nexec {sys.executable} "$@"\n'
    )
    (folder / "python3").chmod(0o755)
    environment = {**os.environ, "PATH": path}
    environment.pop("PYTHON", None)
    made = subprocess.run(
        ["make", "demo"], cwd=bare_checkout, env=environment, text=True, capture_output=True, check=False
    )
    assert made.returncode != 0
    assert made.stderr.splitlines()[0].endswith("Type: sudo apt-get install -y python3-venv")
    assert not (bare_checkout / ".venv").exists()


def test_the_demonstration_needs_no_console_and_leaves_nothing_running(
    bare_checkout: Path, tmp_path: Path
) -> None:
    planned = subprocess.run(
        ["make", "-n", "demo"], cwd=bare_checkout, capture_output=True, text=True, check=True
    )
    assert "console" not in planned.stdout
    shutil.copy(ROOT / "tools" / "demo.py", bare_checkout / "tools")
    shutil.copytree(ROOT / "examples" / "digits", bare_checkout / "examples" / "digits")
    ran = subprocess.run(
        [sys.executable, "tools/demo.py"], cwd=bare_checkout, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "worker-0 | test accuracy 0.9" in ran.stdout
    assert "and the platform is stopped again" in ran.stdout
    assert processes_of(bare_checkout / ".demo") == []


def test_clean_removes_all_that_git_ignores(bare_checkout: Path) -> None:
    patterns = (bare_checkout / ".gitignore").read_text().split()
    # Databases and their kin are nobody's to delete: a checkout may hold a home.
    made = [
        bare_checkout / pattern.strip("/").replace("*", "x") for pattern in patterns if ".db" not in pattern
    ]
    for path in made:
        path.mkdir(parents=True)
        (path / "file").touch()
    cleaned = subprocess.run(
        ["make", "clean"], cwd=bare_checkout, capture_output=True, text=True, check=False
    )
    assert cleaned.returncode == 0, cleaned.stderr
    assert [path for path in made if path.exists()] == []


def test_an_unknown_framework_is_refused(bare_checkout: Path) -> None:
    asked = subprocess.run(
        ["make", "-n", "test", "FRAMEWORKS=torch caffe"],
        cwd=bare_checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 2
    assert "FRAMEWORKS may name torch and jax, not caffe" in asked.stderr


def test_no_framework_is_downloaded_unasked(bare_checkout: Path) -> None:
    def installs(*words: str) -> list[str]:
        said = subprocess.run(
            ["make", "-n", "test", *words],
            cwd=bare_checkout,
            capture_output=True,
            text=True,
            check=True,
            # Whoever runs these tests by make has said what to bring there, not here.
            env={name: value for name, value in os.environ.items() if name not in OF_MAKE},
        )
        return [line for line in said.stdout.splitlines() if "tools/setup" in line]

    assert not any("torch" in line or "jax" in line for line in installs())
    assert "tools/setup jax" in installs("FRAMEWORKS=jax")
