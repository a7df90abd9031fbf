from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.sdk import connection
from footplate.sdk.client import Client
from footplate.testing.fake_server import FakeServer


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the settings of whoever runs the tests."""
    for name in ("URL", "TOKEN", "USER", "PASSWORD", "CONFIG"):
        monkeypatch.delenv(f"FOOTPLATE_{name}", raising=False)
    monkeypatch.setenv("FOOTPLATE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "RETRY_PAUSES_S", (0.0, 0.0, 0.0))
    monkeypatch.setattr(connection, "FIRST_PAUSE_S", 0.001)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as fake:
        yield fake


@pytest.fixture
def client(server: FakeServer) -> Iterator[Client]:
    with Client(server.url, "secret") as one:
        yield one
