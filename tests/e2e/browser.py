"""Runs the specs of the web console in a real browser, against a real server and the embedded engine."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from footplate.testing.bucket import running_bucket_server
from footplate.testing.process import ServerProcess

ROOT = Path(__file__).resolve().parents[2]
# Those need more than a browser.
INSIDE = ("desktop.spec.ts", "supplied.spec.ts")
SPECS = sorted(
    path.name for path in (ROOT / "console" / "tests").glob("*.spec.ts") if path.name not in INSIDE
)
# About half of the time that all of them take.
FORMS = ("admin.spec.ts", "refusals.spec.ts", "sign-in.spec.ts", "submit-files.spec.ts", "submit.spec.ts")
PLAYWRIGHT = "node_modules/@playwright/test/cli.js"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt install chromium")


@contextmanager
def _bucket_for(spec: str) -> Iterator[dict[str, str]]:
    """A bucket for the specs that need one; where moto is missing, those tests say so and are skipped."""
    if spec != "storages.spec.ts" or importlib.util.find_spec("moto") is None:
        yield {}
        return
    with running_bucket_server() as buckets:
        yield {"FOOTPLATE_TEST_BUCKET": f"{buckets.url}/{buckets.new_bucket()}"}


def run_spec(spec: str, console: ModuleType, server: ServerProcess, results: Path) -> None:
    node = console.node_folder()
    environment = {
        **server.environment,
        "PATH": f"{node}{os.pathsep}{os.environ['PATH']}",
        "FOOTPLATE_URL": server.url,
        "FOOTPLATE_TEST_HOME": str(server.home),
        "CHROMIUM": CHROMIUM or "",
    }
    said = results.with_suffix(".log")
    with _bucket_for(spec) as bucket, said.open("wb") as out:
        ran = subprocess.Popen(
            # A folder of its own for results: a run empties it when it begins, and another may be under way.
            [node / "node", PLAYWRIGHT, "test", f"tests/{spec}", "--output", results],
            cwd=ROOT / "console",
            env={**environment, **bucket},
            stdout=out,
            stderr=out,
        )
        _serve_restarts(ran, server)
    assert ran.returncode == 0, said.read_text()[-10_000:]


def _serve_restarts(ran: subprocess.Popen[bytes], server: ServerProcess) -> None:
    """Kill the server and start it again whenever a spec asks for that, until the specs have run."""
    wish = server.home / "restart-please"
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            ran.wait(0.1)
            return
        if wish.exists():
            server.kill()
            server.start()
            wish.unlink()
