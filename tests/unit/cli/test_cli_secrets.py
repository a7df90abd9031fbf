"""The verbs secrets and images, and the environments of queues."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from commandline import Command, Start, read_until

from footplate.testing.fake_server import FakeServer, Reply, error

SECRET: dict[str, Any] = {
    "name": "wandb",
    "kind": "value",
    "owner": "ada",
    "queue": None,
    "created_at": "2026-11-15T08:00:00.000Z",
    "updated_at": "2026-11-15T08:00:00.000Z",
    "last_used_at": None,
}
IMAGE: dict[str, Any] = {
    "name": "torch-2.13",
    "reference": "example.com/torch:2.13",
    "description": "For everybody",
    "framework": "pytorch",
    "version": "2.13",
    "is_default": True,
    "created_at": "2026-11-15T08:00:00.000Z",
    "updated_at": "2026-11-15T08:00:00.000Z",
}


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give the command some standard input."""

    def pipe(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return pipe


@pytest.mark.parametrize("words", [("secrets",), ("secrets", "list")])
def test_secrets_are_listed_without_values(
    footplate: Command, server: FakeServer, words: tuple[str, ...]
) -> None:
    server.on(
        "GET /secrets", {"items": [SECRET, {**SECRET, "name": "hub", "kind": "registry", "queue": "vision"}]}
    )
    result = footplate(*words)
    head, first, second = result.out.splitlines()
    assert head.split() == ["NAME", "KIND", "QUEUE", "OWNER", "CHANGED", "LAST", "USED"]
    assert first.split()[:3] == ["wandb", "value", "ada"]
    assert second.split()[:4] == ["hub", "registry", "vision", "ada"]
    assert json.loads(footplate(*words, "--json").out)["items"][0] == SECRET


@pytest.mark.parametrize("content", [b"hunter22", b"hunter22\n", b"hunter22\r\n"])
def test_a_value_is_read_from_standard_input(
    footplate: Command, server: FakeServer, piped: Any, content: bytes
) -> None:
    server.on("PUT /secrets/wandb", SECRET)
    piped(content)
    result = footplate("secrets", "set", "wandb")
    assert (result.exit_code, result.out) == (0, "Set secret wandb.\n")
    (asked,) = server.requests("PUT /secrets/wandb")
    assert asked.json == {"value": "hunter22", "queue": None}
    assert asked.query == {}


def test_lines_of_standard_input_stay_lines(footplate: Command, server: FakeServer, piped: Any) -> None:
    server.on("PUT /secrets/key", SECRET)
    piped(b"a\nb\n\n")
    assert footplate("secrets", "set", "key").exit_code == 0
    assert server.requests("PUT /secrets/key")[0].json["value"] == "a\nb\n"


def test_a_file_is_sent_as_it_is(footplate: Command, server: FakeServer, tmp_path: Path) -> None:
    server.on("PUT /secrets/key", {**SECRET, "queue": "vision"})
    (tmp_path / "key.pem").write_bytes(b"a\r\nb\n")
    result = footplate("secrets", "set", "key", "--from-file", "key.pem", "--queue", "vision")
    assert result.out == "Set secret key of queue vision.\n"
    assert server.requests("PUT /secrets/key")[0].json == {"value": "a\r\nb\n", "queue": "vision"}


def test_a_file_that_is_no_text_is_refused_before_anything_is_sent(
    footplate: Command, server: FakeServer, tmp_path: Path
) -> None:
    (tmp_path / "key").write_bytes(b"\xff\xfe")
    result = footplate("secrets", "set", "key", "--from-file", "key")
    assert result.exit_code == 1
    assert "base64" in result.err
    assert server.asked == []
    assert footplate("secrets", "set", "key", "--from-file", "nothing-such").exit_code == 2


def test_a_login_at_a_registry_is_set(footplate: Command, server: FakeServer, piped: Any) -> None:
    server.on("PUT /secrets/hub", {**SECRET, "kind": "registry"})
    piped(b"hunter22\n")
    assert footplate("secrets", "set", "hub", "--registry", "docker.io", "-u", "ada").exit_code == 0
    assert server.requests("PUT /secrets/hub")[0].json == {
        "kind": "registry",
        "queue": None,
        "server": "docker.io",
        "username": "ada",
        "password": "hunter22",
    }


@pytest.mark.parametrize("options", [("--registry", "docker.io"), ("--username", "ada")])
def test_half_a_login_is_refused(footplate: Command, server: FakeServer, options: tuple[str, ...]) -> None:
    result = footplate("secrets", "set", "hub", *options)
    assert result.exit_code == 2
    assert "--registry needs --username" in result.err
    assert server.asked == []


@pytest.mark.parametrize("words", [("wandb", "hunter22"), ("wandb", "--value", "hunter22")])
def test_a_value_is_not_taken_from_the_command_line(footplate: Command, words: tuple[str, ...]) -> None:
    assert footplate("secrets", "set", *words).exit_code == 2


def test_a_value_is_asked_for_and_not_shown(
    server: FakeServer, terminal: tuple[int, int], start: Start
) -> None:
    server.on("PUT /secrets/wandb", SECRET)
    process = start(terminal[1], "secrets", "set", "wandb")
    seen = read_until(terminal[0], "Value of wandb")
    os.write(terminal[0], b"hunter22\n")
    seen += read_until(terminal[0], "Set secret wandb.")
    assert process.wait(10) == 0
    assert "hunter22" not in seen
    assert server.requests("PUT /secrets/wandb")[0].json["value"] == "hunter22"


def test_a_refusal_names_the_field(footplate: Command, server: FakeServer, piped: Any) -> None:
    server.on(
        "PUT /secrets/x",
        error("invalid_input", "value: must not be empty", 422, ("value", "must not be empty")),
    )
    piped(b"\n")
    result = footplate("secrets", "set", "x")
    assert result.exit_code == 1
    assert "must not be empty" in result.err


def test_a_secret_is_deleted(footplate: Command, server: FakeServer) -> None:
    server.on("DELETE /secrets/wandb", Reply(204))
    assert footplate("secrets", "delete", "wandb", "--yes").out == "Deleted secret wandb.\n"
    assert footplate("secrets", "delete", "wandb", "-q", "vision", "-y").exit_code == 0
    assert [one.query for one in server.requests("DELETE /secrets/wandb")] == [{}, {"queue": ["vision"]}]


@pytest.mark.parametrize("words", [("images",), ("images", "list")])
def test_images_are_listed(footplate: Command, server: FakeServer, words: tuple[str, ...]) -> None:
    server.on("GET /images", {"items": [IMAGE]})
    assert footplate(*words).out.splitlines()[1].split() == [
        "torch-2.13",
        "yes",
        "pytorch",
        "2.13",
        "example.com/torch:2.13",
        "For",
        "everybody",
    ]
    assert json.loads(footplate(*words, "--json").out) == {"items": [IMAGE]}


def test_an_image_is_set_with_what_is_named(footplate: Command, server: FakeServer) -> None:
    server.on("PUT /images/torch", IMAGE)
    assert footplate("images", "set", "torch", "x/y:1").out == "Set image torch.\n"
    options = ("--description", "", "--framework", "pytorch", "--version", "2", "--default")
    assert footplate("images", "set", "torch", "x/y:1", *options).exit_code == 0
    first, second = server.requests("PUT /images/torch")
    assert first.json == {"reference": "x/y:1"}
    assert second.json == {
        "reference": "x/y:1",
        "description": "",
        "framework": "pytorch",
        "version": "2",
        "is_default": True,
    }


def test_an_image_is_deleted(footplate: Command, server: FakeServer) -> None:
    server.on("DELETE /images/torch", Reply(204))
    result = footplate("images", "delete", "torch", "--yes", "--json")
    assert json.loads(result.out) == {"name": "torch", "is_deleted": True}


def test_the_environments_of_a_queue_are_set_and_cleared(footplate: Command, server: FakeServer) -> None:
    server.on("PATCH /queues/vision", {"name": "vision"})
    footplate("queues", "edit", "vision", "--environment", "a=/x", "--environment", "b:1=/y=z")
    footplate("queues", "edit", "vision", "--environment", "none")
    first, second = server.requests("PATCH /queues/vision")
    assert first.json == {"environments": {"a": "/x", "b:1": "/y=z"}}
    assert second.json == {"environments": {}}


@pytest.mark.parametrize("text", ["a", "a=x", "=/x", "a="])
def test_an_environment_of_another_form_is_refused(footplate: Command, server: FakeServer, text: str) -> None:
    result = footplate("queues", "create", "vision", "--environment", text)
    assert result.exit_code == 2
    assert "IMAGE=PATH" in result.err
    assert server.asked == []
