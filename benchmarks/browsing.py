"""How soon a browser draws a page of the console: at its first visit of all, and at the next."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from footplate.testing.process import ServerProcess

ROOT = Path(__file__).resolve().parents[1]
N_VISITS = 15


@dataclass(frozen=True, slots=True)
class Visits:
    """Milliseconds from the address to what is drawn."""

    first: Sequence[float]
    again: Sequence[float]


def visit(server: ServerProcess, path: str, drawn: str, chosen: str = "") -> Visits:
    """Visit a page a few times, each time with nothing in the browser's cache, and then again.

    `drawn` is a selector of what there must be, `chosen` of what must be clickable then.
    """
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
        "VISITED": path,
        "DRAWN": drawn,
        "CHOSEN": chosen,
    }
    ran = subprocess.run(
        [node / "node", "tools/visits.mjs"],
        cwd=ROOT / "console",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return Visits(**json.loads(ran.stdout))


def _node_folder() -> Path:
    console = runpy.run_path(str(ROOT / "tools" / "console.py"))
    console["install"]()
    folder: Path = console["node_folder"]()
    return folder
