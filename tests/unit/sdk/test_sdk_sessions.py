"""Commands with a password in their environment share one login."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from footplate.sdk import sessions
from footplate.sdk.client import Client
from footplate.sdk.settings import Settings
from footplate.testing.fake_server import Asked, FakeServer, Reply, error

ADA = Settings("http://h:1", user="ada", password="pw", is_kept=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "sessions.json"


def test_a_token_is_found_with_the_password_that_it_was_made_of(path: Path) -> None:
    assert sessions.recall(ADA, path) == ""
    assert sessions.keep(ADA, "token", 3600, path)
    assert sessions.recall(ADA, path) == "token"
    for other in (
        Settings("http://h:1", user="ada", password="wrong"),
        Settings("http://h:1", user="bob", password="pw"),
        Settings("http://h:2", user="ada", password="pw"),
    ):
        assert sessions.recall(other, path) == ""


def test_the_file_is_private_and_has_no_password(path: Path) -> None:
    sessions.keep(Settings("http://h:1", user="ada", password="correct-horse"), "token", 3600, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "correct-horse" not in path.read_text()


def test_a_token_that_is_about_to_expire_is_not_used(path: Path) -> None:
    sessions.keep(ADA, "token", sessions.EARLY_S - 1, path)
    assert sessions.recall(ADA, path) == ""


@pytest.mark.parametrize("text", ["", "{", "[]", '{"ada@http://h:1": 5}', '{"ada@http://h:1": {"token": 5}}'])
def test_a_spoilt_file_is_no_login(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text)
    assert sessions.recall(ADA, path) == ""
    assert sessions.keep(ADA, "token", 3600, path)
    assert sessions.recall(ADA, path) == "token"


def test_expired_and_very_many_logins_are_forgotten(path: Path) -> None:
    sessions.keep(Settings("http://old:1", user="ada", password="pw"), "token", -5, path)
    for number in range(sessions.MOST_KEPT + 5):
        sessions.keep(Settings(f"http://h:{number + 1}", user="ada", password="p"), "token", 3600, path)
    kept = json.loads(path.read_text())
    assert len(kept) == sessions.MOST_KEPT + 1
    assert "ada@http://old:1" not in kept


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not sessions.keep(ADA, "token", 3600, tmp_path / "file" / "sessions.json")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeServer:
    """A server that lets ada in with tokens `t1`, `t2`, … and knows them all."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("FOOTPLATE_HOME", str(tmp_path / "home"))
    for name in ("URL", "TOKEN"):
        monkeypatch.delenv(f"FOOTPLATE_{name}", raising=False)
    monkeypatch.setenv("FOOTPLATE_USER", "ada")
    monkeypatch.setenv("FOOTPLATE_PASSWORD", "pw")
    return FakeServer()


def _let_in(server: FakeServer) -> set[str]:
    good: set[str] = set()

    def login(asked: Asked) -> Reply:
        if asked.json["password"] != "pw":
            return error("unauthenticated", "wrong password", 401)
        good.add(f"t{len(server.requests('POST /login'))}")
        return Reply(data={"token": f"t{len(server.requests('POST /login'))}", "id": "i", "user": "ada"})

    def me(asked: Asked) -> Reply:
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        return Reply(data={"name": "ada"}) if token in good else error("unauthenticated", "who?", 401)

    server.on("POST /login", login)
    server.on("GET /me", me)
    server.on("DELETE /tokens/i", Reply(204))
    return good


def test_several_commands_log_in_once(server: FakeServer) -> None:
    with server:
        _let_in(server)
        for _ in range(3):
            with Client(server.url) as client:
                assert client.whoami()["name"] == "ada"
        assert len(server.requests("POST /login")) == 1
        assert server.requests("DELETE /tokens/i") == [], "the token is still needed"


def test_a_token_that_was_revoked_is_made_anew(server: FakeServer) -> None:
    with server:
        good = _let_in(server)
        for _ in range(2):
            with Client(server.url) as client:
                client.whoami()
            good.clear()
        assert len(server.requests("POST /login")) == 2


def test_a_wrong_password_is_refused_although_a_login_is_kept(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server:
        _let_in(server)
        with Client(server.url) as client:
            client.whoami()
        monkeypatch.setenv("FOOTPLATE_PASSWORD", "wrong")
        with Client(server.url) as client, pytest.raises(Exception, match="wrong password"):
            client.whoami()


def test_a_password_that_a_program_gives_is_kept_nowhere(server: FakeServer, tmp_path: Path) -> None:
    with server:
        _let_in(server)
        with Client(server.url, user="ada", password="pw") as client:
            client.whoami()
        assert len(server.requests("DELETE /tokens/i")) == 1
        assert not (tmp_path / "cache").exists()
