"""`footplate up --demo` for real: all that it promises to show, the link, and nothing left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from footplate.testing.process import FOOTPLATE, await_that, free_port, processes_of

STATES = {
    "house-prices": "SUCCEEDED",
    "spirals": "RUNNING",
    "zen-letters": "RUNNING",
    "two-workers": "RUNNING",
    "all-in-memory": "FAILED",
    "wide-spirals": "QUEUED",
}
READY = "Ctrl-C ends the demo"


class Demo:
    """A demo that runs, and what it has told so far."""

    def __init__(self, home: Path, *options: str) -> None:
        self.home = home
        self.told = ""
        # What a real server on this machine may have set must not reach the demo.
        environment = {
            **os.environ,
            "FOOTPLATE_HOME": "/nowhere/real",
            "FOOTPLATE_DATABASE_URL": "sqlite:////nowhere/real.db",
            "FOOTPLATE_URL": "http://127.0.0.1:9",
            "LC_ALL": "C.UTF-8",
        }
        self._process = subprocess.Popen(
            [FOOTPLATE, "up", "--demo", "--home", home, "--port", str(free_port()), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            start_new_session=True,
        )

    def await_ready(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.told += line
            if line.startswith(READY):
                return
        raise AssertionError(f"the demo ended early: {self.told}")

    @property
    def link(self) -> str:
        found = re.search(r"http://\S+/enter#fpl_\S+", self.told)
        assert found, self.told
        return found[0]

    def end(self, how: signal.Signals = signal.SIGINT) -> int:
        self._process.send_signal(how)
        rest, _ = self._process.communicate(timeout=60)
        self.told += rest
        return self._process.returncode

    def kill(self) -> None:
        if self._process.poll() is None:
            self.end()


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    made = Demo(tmp_path / "demo")
    yield made
    made.kill()


@contextmanager
def entered(link: str) -> Iterator[httpx.Client]:
    """A browser that has followed the link."""
    url, _, code = link.partition("#")
    with httpx.Client(base_url=f"{url.removesuffix('/enter')}/api/v1") as browser:
        answer = browser.post("/session/links/follow", json={"code": code})
        answer.raise_for_status()
        browser.headers["X-Footplate-Key"] = answer.json()["key"]
        yield browser


def test_the_demo_shows_every_state_lets_people_in_and_leaves_nothing_behind(demo: Demo) -> None:
    demo.await_ready()
    for name, state in STATES.items():
        assert re.search(rf"^{name} .* {state} ", demo.told, re.MULTILINE), demo.told
    with entered(demo.link) as browser:
        assert browser.get("/me").json()["name"] == "admin"
        jobs = {job["name"]: job for job in browser.get("/jobs").json()["items"]}
        assert {name: job["state"] for name, job in jobs.items()} == STATES
        assert "free" in jobs["wide-spirals"]["reason"]["message"]
        for name in ("spirals", "zen-letters", "two-workers"):
            await_that(lambda: " loss " in log_of(browser, jobs[name]), what=f"{name} logs its loss")  # noqa: B023
        assert "MB in memory" in log_of(browser, jobs["all-in-memory"])
        again = browser.post("/session/links/follow", json={"code": demo.link.partition("#")[2]})
        assert again.status_code == 404
    assert processes_of(demo.home)
    assert demo.end() == 0
    assert not demo.home.exists()
    assert processes_of(demo.home) == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(demo.link)


def log_of(browser: httpx.Client, job: dict[str, str]) -> str:
    return browser.get(f"/jobs/{job['id']}/logs").text


def test_a_demo_that_is_kept_leaves_its_home_and_no_process(tmp_path: Path) -> None:
    demo = Demo(tmp_path / "kept", "--keep")
    demo.await_ready()
    assert demo.end(signal.SIGTERM) == 0
    assert f"footplate up --home {demo.home}" in demo.told
    assert (demo.home / "client.toml").exists()
    assert processes_of(demo.home) == []


def test_a_demo_that_is_ended_while_it_starts_leaves_nothing_either(tmp_path: Path) -> None:
    demo = Demo(tmp_path / "early")
    await_that(lambda: (demo.home / "server.log").exists(), what="it starts")
    assert demo.end() == 0
    assert not demo.home.exists()
