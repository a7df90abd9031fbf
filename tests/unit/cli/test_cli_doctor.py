"""The table of a check-up, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import Command

from footplate import __version__
from footplate.testing.fake_server import FakeServer, error

NODE = {"name": "bench", "unenforced": None}


def findings(footplate: Command, *words: str) -> dict[str, dict[str, str]]:
    return {one["name"]: one for one in json.loads(footplate("doctor", "--json", *words).out)["findings"]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir(mode=0o700)
    return tmp_path / "home"


def test_a_check_up_prints_a_line_for_each_thing_and_what_to_type(
    server: FakeServer, footplate: Command, home: Path
) -> None:
    server.on("GET /version", {"version": __version__, "api": "v1"})
    server.on(
        "GET /nodes",
        {"items": [{**NODE, "unenforced": {"message": "cpus: control groups cannot be written"}}]},
    )
    home.chmod(0o755)
    result = footplate("doctor")
    lines = result.out.splitlines()
    assert lines[0].split() == ["CHECK", "STATE", "RESULT"]
    for name in ("Python", "server", "home folder", "disk", "limit of memory", "GPUs"):
        assert any(line.startswith(name) for line in lines), name
    assert f"    fix: chmod 700 {home}" in lines
    assert any(line.startswith("node bench") and "failed" in line for line in lines)
    assert "failed." in lines[-1]


def test_a_server_of_another_version_is_told(server: FakeServer, footplate: Command, home: Path) -> None:
    server.on("GET /version", {"version": "9.9", "api": "v1"})
    server.on("GET /nodes", {"items": [NODE]})
    found = findings(footplate)
    assert found["server"]["state"] == "ok"
    assert found["versions"]["state"] == "failed"
    assert found["node bench"]["state"] == "ok"


def test_a_server_that_is_away_or_unknown_ends_no_other_check(
    server: FakeServer, footplate: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("GET /version", {"version": __version__, "api": "v1"})
    server.on("GET /nodes", error("unauthenticated", "no valid token", 401))
    assert findings(footplate)["login"]["state"] == "unknown"
    monkeypatch.setenv("FOOTPLATE_URL", "http://127.0.0.1:1")
    found = findings(footplate)
    assert found["server"]["state"] == "unknown"
    assert found["disk"]["state"] in ("ok", "failed")
    monkeypatch.delenv("FOOTPLATE_URL")
    assert findings(footplate)["server"]["meaning"] == "no server is configured here"


def test_settings_that_stop_a_start_end_with_1(server: FakeServer, footplate: Command, home: Path) -> None:
    (home / "settings.toml").write_text("colour = 1\n")
    result = footplate("doctor")
    assert result.exit_code == 1
    assert "colour: is not a setting" in result.out
