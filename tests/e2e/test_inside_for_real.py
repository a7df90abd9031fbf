"""Inside a job with a real browser: JupyterLab, TensorBoard and a desktop, through the proxy."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import ModuleType

import httpx
import pytest
from browser import needs_browser, run_spec

from footplate.testing.eventwriter import scalar_event
from footplate.testing.process import ServerProcess, await_that

SERVICES = os.environ.get("FOOTPLATE_TEST_SERVICES", "").split()
DEADLINE_S = 60.0
INSTALLED_S = 300.0
needs_desktop = pytest.mark.skipif(
    not (shutil.which("Xvnc") and shutil.which("xeyes")),
    reason="needs a VNC server and a window: apt install tigervnc-standalone-server jwm x11-apps",
)
needs_packages = pytest.mark.skipif(
    not {"jupyter", "tensorboard"} <= set(SERVICES),
    reason='has a server install packages: make test SERVICES="jupyter tensorboard"',
)


@needs_browser
@needs_desktop
@pytest.mark.timeout(200)
def test_a_desktop_in_a_browser(console: ModuleType, server: ServerProcess, tmp_path: Path) -> None:
    run_spec("desktop.spec.ts", console, server, tmp_path / "results")


@needs_browser
@needs_packages
@pytest.mark.timeout(700)
def test_what_the_platform_supplies_in_a_browser(
    console: ModuleType, server: ServerProcess, tmp_path: Path
) -> None:
    run_spec("supplied.spec.ts", console, server, tmp_path / "results")


def viewers_of(server: ServerProcess) -> list[int]:
    """The processes of TensorBoards that this server's home has begun."""
    mark = b"FOOTPLATE_ROLE=viewer"
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark in words and any(str(server.home).encode() in word for word in words):
            found.append(int(folder.name))
    return found


@needs_packages
@pytest.mark.timeout(700)
def test_a_tensorboard_reads_only_and_ends_with_a_server_that_is_killed(server: ServerProcess) -> None:
    with server.client() as client:
        made = client.post("/jobs", json={"name": "shown", "command": "true", "cpus": 0.1}).json()
        path = f"/jobs/{made['id']}"
        await_that(lambda: client.get(path).json()["state"] == "SUCCEEDED", DEADLINE_S)
        (output,) = server.home.glob(f"jobs/*/{made['id']}/output")
        (output / "events.out.tfevents.1.host").write_bytes(scalar_event(1.0, 1, "loss", 0.5))
        opened = client.post(f"{path}/services", json={"service": "tensorboard"}, timeout=INSTALLED_S)
        assert opened.status_code == 201, opened.text
        told = opened.json()
    with httpx.Client(follow_redirects=True, timeout=30) as browser:
        assert browser.get(told["url"]).status_code == 200
        base = told["url"].partition("?")[0]
        tags = f"{base}data/plugin/scalars/tags"
        await_that(lambda: browser.get(tags).json().get("shown", {}).get("loss"), DEADLINE_S, every_s=0.5)
    # Whoever comes past the door is asked for a secret.
    assert httpx.get(f"http://127.0.0.1:{told['port']}/").status_code == 403
    mounts = [Path(f"/proc/{pid}/mountinfo").read_text().splitlines() for pid in viewers_of(server)]
    shown = [line.split()[5] for lines in mounts for line in lines if " /mnt/jobs/shown " in line]
    assert shown
    assert all("ro" in options.split(",") for options in shown)
    server.kill()
    server.start()
    await_that(lambda: not viewers_of(server), DEADLINE_S)
    await_that(lambda: not list((server.home / "viewers").iterdir()), DEADLINE_S)
