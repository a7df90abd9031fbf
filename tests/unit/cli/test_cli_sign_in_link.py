"""The link that opens the console signed in, as the command prints it."""

from __future__ import annotations

import json

import pytest
from commandline import Command

from footplate.testing.fake_server import FakeServer, Reply

MADE = {"link": "https://train.example.org/enter#fpl_x", "expires_at": "2026-11-16T08:00:00.000Z"}


def test_the_link_alone_is_printed_and_the_rest_said_beside(server: FakeServer, footplate: Command) -> None:
    server.on("POST /session/links", Reply(201, MADE))
    result = footplate("open", "--expires", "1h")
    assert result.out == f"{MADE['link']}\n"
    assert "works once, until 2026-11-16" in result.err
    assert server.requests("POST /session/links")[0].json == {"path": "/", "expires_in_s": 3600}


def test_a_job_is_where_the_link_leads(server: FakeServer, footplate: Command) -> None:
    server.on("GET /jobs/digits", {"id": "2me2et0rs812", "name": "digits"})
    server.on("POST /session/links", Reply(201, MADE))
    assert footplate("open", "digits").exit_code == 0
    assert server.requests("POST /session/links")[0].json["path"] == "/jobs/2me2et0rs812"


@pytest.mark.parametrize("host", ["127.0.0.1:8750", "localhost:8750", "[::1]:8750"])
def test_a_loopback_address_of_the_server_gives_way_to_the_one_that_was_used(
    server: FakeServer, footplate: Command, host: str
) -> None:
    server.on("POST /session/links", Reply(201, {**MADE, "link": f"http://{host}/enter?next=%2Fx#fpl_x"}))
    assert footplate("open").out == f"{server.url}/enter?next=%2Fx#fpl_x\n"


def test_a_program_is_told_in_json(server: FakeServer, footplate: Command) -> None:
    server.on("POST /session/links", Reply(201, MADE))
    assert json.loads(footplate("open", "--json").out) == MADE
