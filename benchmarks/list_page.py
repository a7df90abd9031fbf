"""How soon a browser that has never seen the console can use the job list."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

from footplate.testing.process import ServerProcess

ROOT = Path(__file__).resolve().parents[1]
N_VISITS = 15


def visits_s(server: ServerProcess) -> list[float]:
    """Visit the list with nothing in the browser's cache; raise where there is no browser."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise FileNotFoundError("needs a browser: apt install chromium")
    node = _node_folder()
    environment = {
        **server.environment,
        "PATH": f"{node}{os.pathsep}{os.environ['PATH']}",
        "FOOTPLATE_URL": server.url,
        "CHROMIUM": browser,
        "VISITS": str(N_VISITS),
    }
    ran = subprocess.run(
        [node / "node", "tools/listPage.mjs"],
        cwd=ROOT / "console",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return [milliseconds / 1000 for milliseconds in json.loads(ran.stdout)]


def _node_folder() -> Path:
    spec = importlib.util.spec_from_file_location("console", ROOT / "tools" / "console.py")
    assert spec is not None
    assert spec.loader is not None
    console = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(console)
    console.install()
    folder: Path = console.node_folder()
    return folder
