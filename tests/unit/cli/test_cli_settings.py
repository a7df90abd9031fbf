"""The verb settings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from commandline import Command

from footplate.testing.fake_server import FakeServer, Reply

LONG = [f"https://code.example/{number}/" for number in range(9)]
SETTINGS: dict[str, Any] = {
    "version": "0.1.0",
    "home": "/srv/footplate",
    "url": "http://127.0.0.1:8750",
    "database": "SQLite",
    "file": "/srv/footplate/settings.toml",
    "items": [
        {
            "name": "trash_kept",
            "value": "7d",
            "source": "console",
            "is_default": False,
            "is_live": True,
            "help": "",
        },
        {
            "name": "idle_limit",
            "value": None,
            "source": "default",
            "is_default": True,
            "is_live": True,
            "help": "",
        },
        {
            "name": "git_sources",
            "value": LONG,
            "source": "file",
            "is_default": False,
            "is_live": False,
            "help": "",
        },
    ],
}


@pytest.mark.parametrize("words", [("settings",), ("settings", "list")])
def test_settings_are_listed_with_who_says_so(
    footplate: Command, server: FakeServer, words: tuple[str, ...]
) -> None:
    server.on("GET /settings", SETTINGS)
    lines = footplate(*words).out.splitlines()
    assert lines[1].split() == ["trash_kept", "7d", "admin", "here"]
    assert lines[2].split() == ["idle_limit", "default", "here"]
    assert "…" in lines[3]
    assert lines[-1].endswith("/srv/footplate/settings.toml, and hold after a restart.")
    assert json.loads(footplate(*words, "--json").out) == SETTINGS


def test_one_setting_is_printed_for_scripts(footplate: Command, server: FakeServer) -> None:
    server.on("GET /settings", SETTINGS)
    assert footplate("settings", "get", "trash_kept").out == "7d\n"
    refused = footplate("settings", "get", "nope")
    assert refused.exit_code != 0
    assert "there is no setting 'nope'" in refused.err


@pytest.mark.parametrize(("typed", "sent"), [("7d", "7d"), ("0", 0), ("none", None)])
def test_a_setting_is_changed_and_given_back(
    footplate: Command, server: FakeServer, typed: str, sent: Any
) -> None:
    server.on("PUT /settings/trash_kept", Reply(204))
    server.on("DELETE /settings/trash_kept", Reply(204))
    assert footplate("settings", "set", "trash_kept", typed).out == f"Set trash_kept to {typed}.\n"
    assert server.asked[0].json == {"value": sent}
    assert footplate("settings", "reset", "trash_kept").out == "trash_kept has its default again.\n"
