"""Inviting people and following an invitation, as the commands show it."""

from __future__ import annotations

import io
import stat

import pytest
from commandline import Command

from footplate.sdk import settings
from footplate.testing.fake_server import FakeServer, Reply, error

INVITE = {
    "user": "ada",
    "is_admin": False,
    "queues": [{"name": "default", "role": "member"}],
    "invited_by": "admin",
    "created_at": "2026-11-15T08:00:00.000Z",
    "expires_at": "2026-11-18T08:00:00.000Z",
}
LINK = "https://train.example.org/join#fpi_x"
MADE = {**INVITE, "link": LINK, "line": f"the line with '{LINK}'"}


def test_the_line_alone_is_printed_and_the_rest_said_beside(server: FakeServer, footplate: Command) -> None:
    server.on("POST /invites", Reply(201, MADE))
    result = footplate("invite", "ada", "-q", "vision=viewer", "--expires", "1d")
    assert result.out == f"{MADE['line']}\n"
    assert "Send this line to ada: it works once, until 2026-11-18" in result.err
    assert server.requests("POST /invites")[0].json == {
        "user": "ada",
        "is_admin": False,
        "expires_in_s": 86400,
        "queues": {"vision": "viewer"},
    }


@pytest.mark.parametrize(
    ("link", "says"),
    [
        (LINK, ""),
        ("http://127.0.0.1:8750/join#x", "Only this machine can reach http://127.0.0.1:8750"),
        ("https://localhost/join#x", "Only this machine can reach https://localhost"),
        ("http://train.example.org/join#x", "uses plain HTTP"),
    ],
)
def test_an_address_that_is_no_good_for_others_is_told(
    server: FakeServer, footplate: Command, link: str, says: str
) -> None:
    server.on("POST /invites", Reply(201, {**MADE, "link": link}))
    said = footplate("invite", "ada").err
    assert says in said
    assert bool(says) == ("\n" in said.strip())


def test_invitations_are_listed_and_taken_back(server: FakeServer, footplate: Command) -> None:
    server.on("GET /invites", {"items": [INVITE]})
    assert "ada" in footplate("invite", "--list").out
    server.on("DELETE /invites/ada", Reply(204))
    assert "Revoked the invitation of ada." in footplate("invite", "ada", "--revoke").out
    assert footplate("invite").exit_code == 2


def test_whoever_joins_chooses_a_password_and_is_remembered(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("POST /invites/lookup", INVITE)
    issued = {"token": "mine", "id": "3", "user": "ada", "name": "x", "expires_at": None}
    server.on("POST /invites/accept", Reply(201, issued))
    monkeypatch.setattr("sys.stdin", io.StringIO("battery staple\n"))
    result = footplate("join", f"{server.url}/join#fpi_code", "--password-stdin")
    assert f"Welcome, ada: you are logged in at {server.url}" in result.out, result.err
    assert f"admin invites you to {server.url} as ada." in result.err
    sent = server.requests("POST /invites/accept")[0]
    assert (sent.json["code"], sent.json["password"]) == ("fpi_code", "battery staple")
    # The token of another login is not sent along, and the code is in no address.
    assert "secret" not in sent.headers["authorization"]
    assert not any("fpi_code" in one.path for one in server.asked)
    path = settings.config_file()
    assert settings.read(path) == settings.Settings(server.url, "mine", "ada", token_id="3")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_worthless_link_is_told_before_a_password_is_asked_for(
    server: FakeServer, footplate: Command
) -> None:
    server.on("POST /invites/lookup", error("not_found", "this invitation was used", 404))
    result = footplate("join", f"{server.url}/join#fpi_code", "--password-stdin")
    assert result.exit_code == 1
    assert "this invitation was used" in result.err
    assert not settings.config_file().exists()


def test_a_link_that_lost_its_code_is_a_usage_error(server: FakeServer, footplate: Command) -> None:
    result = footplate("join", f"{server.url}/join")
    assert result.exit_code == 2
    assert "quote it as it was sent" in result.err
