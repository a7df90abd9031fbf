from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# The fake server is shared with the tests of the SDK, which these commands call.
sys.path.insert(0, str(Path(__file__).parent.parent / "sdk"))

from commandline import Command

from footplate.testing.fake_server import FakeServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeServer]:
    """A fake server that the command finds through its environment, with no other settings around."""
    for name in ("USER", "PASSWORD", "CONFIG"):
        monkeypatch.delenv(f"FOOTPLATE_{name}", raising=False)
    monkeypatch.setenv("FOOTPLATE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    with FakeServer() as fake:
        monkeypatch.setenv("FOOTPLATE_URL", fake.url)
        monkeypatch.setenv("FOOTPLATE_TOKEN", "secret")
        yield fake


@pytest.fixture
def footplate(capsys: pytest.CaptureFixture[str], server: FakeServer) -> Command:
    return Command(capsys)
