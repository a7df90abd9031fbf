"""The verb keys: access keys are made, listed and deleted."""

from __future__ import annotations

from commandline import Command

from footplate.testing.fake_server import FakeServer, Reply

KEY = {"id": "FPAKA", "name": "tikit", "created_at": "2026-11-17T00:00:00Z", "last_used_at": None}


def test_a_key_is_shown_with_its_secret_once(server: FakeServer, footplate: Command) -> None:
    server.on("POST /access-keys", Reply(201, {**KEY, "secret": "once"}))
    made = footplate("keys", "create", "tikit")
    assert (made.exit_code, made.out) == (0, "FPAKA once\n")
    assert "not shown again" in made.err
    server.on("GET /access-keys", Reply(200, {"items": [KEY]}))
    assert "FPAKA" in footplate("keys").out
    server.on("DELETE /access-keys/FPAKA", Reply(204))
    assert footplate("keys", "delete", "FPAKA").out == "Deleted access key FPAKA.\n"
