"""What a server keeps in its home folder is closed to other people of the machine."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from footplate.testing.process import ServerProcess

NOT_OURS = {"server.log", "settings.toml"}


def open_to_others(home: Path) -> set[str]:
    return {path.name for path in home.iterdir() if stat.S_IMODE(path.lstat().st_mode) & 0o077} - NOT_OURS


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    return home


def test_a_home_that_others_can_look_into_shows_them_nothing(home: Path) -> None:
    os.umask(umask := os.umask(0o022))
    with ServerProcess(home) as server:
        assert server.command("submit", "--name", "a", "--follow", "--", "umask").returncode == 0
        with server.client() as client:
            made = client.post(f"{server.url}/api/2.0/mlflow/experiments/create", json={"name": "mine"})
            assert made.status_code == 200, made.text
        assert {"footplate.db", "footplate.db-wal", "jobs", "secret", "experiments"} <= {
            path.name for path in home.iterdir()
        }
        assert open_to_others(home) == set()
        assert f"others on this machine can look into the home folder {home} (mode 0755)" in server.log
        # What tasks make for others is theirs to decide.
        assert server.command("logs", "a").stdout == f"{umask:04o}\n"
        # What was kept is found by the next server, and closed again.
        server.stop()
        server.start()
        with server.client() as client:
            path = f"{server.url}/api/2.0/mlflow/experiments/get-by-name"
            assert client.get(path, params={"experiment_name": "mine"}).status_code == 200


def test_a_home_of_an_older_server_is_closed_at_the_next_start(home: Path) -> None:
    with ServerProcess(home) as server:
        server.stop()
        for path in home.iterdir():
            path.chmod(0o755 if path.is_dir() else 0o644)
        home.chmod(0o700)
        before = len(server.log)
        server.start()
        assert open_to_others(home) == set()
        assert "look into the home folder" not in server.log[before:]
