"""Runs the specs of the web console in a real browser, against a real server and the embedded engine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from footplate.testing.process import ServerProcess

ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted(path.name for path in (ROOT / "console" / "tests").glob("*.spec.ts"))
# About half of the time that all of them take.
FORMS = ("admin.spec.ts", "refusals.spec.ts", "sign-in.spec.ts", "submit-files.spec.ts", "submit.spec.ts")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt install chromium")


def run_spec(spec: str, console: ModuleType, server: ServerProcess, results: Path) -> None:
    node = console.node_folder()
    environment = {
        **server.environment,
        "PATH": f"{node}{os.pathsep}{os.environ['PATH']}",
        "FOOTPLATE_URL": server.url,
        "FOOTPLATE_TEST_HOME": str(server.home),
        "CHROMIUM": CHROMIUM or "",
    }
    ran = subprocess.run(
        # A folder of its own for results: a run empties it when it begins, and another may be under way.
        [node / "node", "node_modules/@playwright/test/cli.js", "test", f"tests/{spec}", "--output", results],
        cwd=ROOT / "console",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-2000:]
