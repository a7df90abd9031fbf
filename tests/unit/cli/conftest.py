from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from commandline import Command, Start, start_on

from footplate.testing.fake_server import FakeServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServer]:
    """A fake server that the command finds through its environment, with no other settings around."""
    for name in ("USER", "PASSWORD", "CONFIG"):
        monkeypatch.delenv(f"FOOTPLATE_{name}", raising=False)
    monkeypatch.setenv("FOOTPLATE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    with FakeServer() as fake:
        monkeypatch.setenv("FOOTPLATE_URL", fake.url)
        monkeypatch.setenv("FOOTPLATE_TOKEN", "secret")
        yield fake


@pytest.fixture(autouse=True)
def in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may speak another language."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


@pytest.fixture
def footplate(capsys: pytest.CaptureFixture[str], server: FakeServer) -> Command:
    return Command(capsys)


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """A terminal: our end of it, and the command's."""
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)


@pytest.fixture
def start() -> Iterator[Start]:
    """Start the command on a terminal; it does not outlive the test."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(terminal: int, *arguments: str) -> subprocess.Popen[bytes]:
        started.append(start_on(terminal, *arguments))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.wait()
