"""The web console in a real browser, against a real server and the embedded engine."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from footplate.testing.process import ServerProcess

ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted(path.name for path in (ROOT / "console" / "tests").glob("*.spec.ts"))
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def console() -> ModuleType:
    """The program behind `make console`; it builds what is old."""
    spec = importlib.util.spec_from_file_location("console", ROOT / "tools" / "console.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.build()
    module.install()
    return module


@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt install chromium")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("spec", SPECS)
def test_the_console_in_a_browser(
    console: ModuleType, server: ServerProcess, spec: str, tmp_path: Path
) -> None:
    node = console.node_folder()
    environment = {
        **server.environment,
        "PATH": f"{node}{os.pathsep}{os.environ['PATH']}",
        "FOOTPLATE_URL": server.url,
        "FOOTPLATE_TEST_HOME": str(server.home),
        "CHROMIUM": CHROMIUM or "",
    }
    ran = subprocess.run(
        # A folder of its own: a run empties it when it begins, and another may be under way.
        [
            node / "node",
            "node_modules/@playwright/test/cli.js",
            "test",
            f"tests/{spec}",
            "--output",
            tmp_path / "results",
        ],
        cwd=ROOT / "console",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-2000:]


def test_the_logic_of_the_console(console: ModuleType) -> None:
    console.npm("run", "test")
