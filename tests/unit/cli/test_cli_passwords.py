"""No password is taken from a command line, where others can read it."""

from __future__ import annotations

import io
import os

import pytest
from commandline import Command, Start, read_until

from footplate.sdk import settings
from footplate.testing.fake_server import FakeServer, Reply

VERSION = {"version": "1", "api": "v1"}
LOGIN = {"token": "tok", "id": "7", "user": "ada", "expires_at": None}


@pytest.mark.parametrize(
    ("words", "asked", "piped"),
    [
        (
            ("users", "add", "eve", "--password", "s3cret-word"),
            "footplate users add eve",
            "footplate users add eve --password-stdin",
        ),
        (
            ("users", "edit", "eve", "--password=s3cret-word"),
            "footplate users edit eve --password",
            "footplate users edit eve --password-stdin",
        ),
        (("password", "--old", "s3cret-word"), "footplate password", "footplate password --password-stdin"),
        (("password", "--new=s3cret-word"), "footplate password", "footplate password --password-stdin"),
        (
            ("login", "http://there", "--password", "s3cret-word"),
            "footplate login http://there",
            "footplate login http://there --password-stdin",
        ),
        (
            ("login", "http://there", "--token", "s3cret-word"),
            "footplate login http://there",
            "footplate login http://there --token-stdin",
        ),
    ],
)
def test_a_password_on_the_command_line_is_refused_with_the_line_to_type(
    server: FakeServer, footplate: Command, words: tuple[str, ...], asked: str, piped: str
) -> None:
    result = footplate(*words)
    assert result.exit_code == 2
    assert f"`{asked}`" in result.err
    assert f"`{piped}`" in result.err
    assert "s3cret-word" not in result.out + result.err
    assert server.asked == []


def test_scripts_send_a_password_on_standard_input(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FOOTPLATE_TOKEN")
    server.on("GET /version", VERSION)
    server.on("POST /login", LOGIN)
    monkeypatch.setattr("sys.stdin", io.StringIO("pass word \r\nmore\n"))
    assert footplate("login", "-u", "ada", "--password-stdin").exit_code == 0
    assert server.requests("POST /login")[0].json["password"] == "pass word "


def test_a_token_comes_on_standard_input_too(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("GET /me", {"name": "ada", "is_admin": False, "queues": []})
    monkeypatch.setattr("sys.stdin", io.StringIO("fp_given\n"))
    assert footplate("login", server.url, "--token-stdin").exit_code == 0
    assert server.requests("GET /me")[0].headers["authorization"] == "Bearer fp_given"
    assert settings.read(settings.config_file()) == settings.Settings(server.url, "fp_given", "ada")


@pytest.mark.parametrize(
    "words", [("users", "add", "eve"), ("users", "edit", "eve"), ("password",), ("login", "-u", "ada")]
)
def test_an_empty_standard_input_is_told_and_nothing_is_sent(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    server.on("GET /me", {"name": "ada", "is_admin": True, "queues": []})
    server.on("GET /version", VERSION)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    result = footplate(*words, "--password-stdin")
    assert result.exit_code == 2
    assert "standard input ended before" in result.err
    assert {one.method for one in server.asked} <= {"GET"}


def test_an_admin_at_a_terminal_types_a_password_twice_and_unseen(
    server: FakeServer, start: Start, terminal: tuple[int, int]
) -> None:
    ours, theirs = terminal
    server.on("PATCH /users/eve", {"name": "eve"})
    process = start(theirs, "users", "edit", "eve", "--password")
    seen = read_until(ours, "New password of eve: ")
    os.write(ours, b"battery staple\n")
    seen += read_until(ours, "Repeat the password: ")
    os.write(ours, b"battery staple\n")
    seen += read_until(ours, "Changed user eve.")
    assert process.wait(10) == 0
    assert "battery" not in seen
    assert server.requests("PATCH /users/eve")[0].json == {"password": "battery staple"}


def test_a_login_asks_to_replace_the_one_this_account_of_the_machine_had(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.delenv("FOOTPLATE_TOKEN")
    monkeypatch.setenv("FOOTPLATE_PASSWORD", "pw")
    server.on("GET /version", VERSION)
    server.on("POST /login", LOGIN)
    footplate("login", "-u", "ada")
    footplate("login", "-u", "ada")
    monkeypatch.setenv("FOOTPLATE_CONFIG", f"{tmp_path}/other.toml")
    footplate("login", "-u", "ada")
    first, second, elsewhere = (one.json for one in server.requests("POST /login"))
    assert first["replaces"] is second["replaces"] is elsewhere["replaces"] is True
    assert first["name"] == second["name"]
    # Two files that keep logins are two logins.
    assert elsewhere["name"] != first["name"]


def test_a_password_and_no_terminal_changes_a_user(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("PATCH /users/eve", Reply(200, {"name": "eve"}))
    monkeypatch.setattr("sys.stdin", io.StringIO("battery staple\n"))
    assert footplate("users", "edit", "eve", "--password-stdin", "--disable").exit_code == 0
    body = {"is_enabled": False, "password": "battery staple"}
    assert server.requests("PATCH /users/eve")[0].json == body
