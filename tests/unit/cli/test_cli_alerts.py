"""The verbs alerts and channels against a real server."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commandline import Command, Result

from footplate.domain.cluster import Node
from footplate.domain.resources import GIB
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.receivers import Hook, hook_receiver
from footplate.testing.server import Served, served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    clock = FakeClock()
    home: Path = tmp_path_factory.mktemp("home")
    with served(home, FakeEngine(clock, [Node("n", 8000, 8 * GIB)]), clock) as running:
        yield running


@pytest.fixture(scope="module")
def token(server: Served) -> str:
    return server.sign_in()


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hook_receiver() as running:
        yield running


Run = Callable[..., Result]


@pytest.fixture
def run(
    server: Served, token: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    monkeypatch.setenv("FOOTPLATE_URL", server.url)
    monkeypatch.setenv("FOOTPLATE_TOKEN", token)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")

    def call(*words: str, typed: str = "", code: int = 0) -> Result:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        result = Command(capsys)(*words)
        assert result.exit_code == code, result
        return result

    return call


def test_a_channel_is_added_signed_tested_switched_off_and_deleted(run: Run, hook: Hook) -> None:
    run("alerts", "settings", "--allow", "127.0.0.0/8")
    run("channels", "add", "hook", hook.url, "--kind", "webhook", "--sign", typed="between us\n")
    assert "took a test notice" in run("channels", "test", "hook").out
    assert "X-Footplate-Signature" in hook.posts[0].headers
    assert "between us" not in run("channels", "--json").out
    run("channels", "edit", "hook", "--disable", "--quiet", "22:00-07:00")
    [shown] = json.loads(run("channels", "--json").out)["items"]
    assert (shown["is_enabled"], shown["quiet"]) == (False, "22:00-07:00")
    run("channels", "delete", "hook", "--yes")
    assert "hook" not in run("channels").out
    assert "no channel" in run("channels", "test", "hook", code=1).err


def test_a_private_network_is_refused_until_it_is_allowed(run: Run, hook: Hook) -> None:
    run("alerts", "settings", "--forbid", "127.0.0.0/8")
    run("channels", "add", "inside", hook.url, "--kind", "slack")
    assert "--allow 127.0.0.1" in run("channels", "test", "inside", code=1).err
    run("alerts", "settings", "--allow", "127.0.0.1")
    run("channels", "test", "inside")
    run("channels", "delete", "inside", "--yes")


def test_rules_are_added_listed_and_removed(run: Run) -> None:
    made = json.loads(run("alerts", "add", "overtime", "--after", "12h", "--every", "2h", "--json").out)
    assert (made["after_s"], made["every_s"]) == (43200, 7200)
    assert made["id"] in run("alerts", "rules").out
    run("alerts", "remove", made["id"])
    assert made["id"] not in run("alerts", "rules").out
    assert "after_s" in run("alerts", "add", "overtime", code=1).err
    run("alerts")


def test_the_mail_server_is_set_and_its_password_is_not_shown(run: Run) -> None:
    words = ("--smtp", "mail.example.org:587", "--security", "starttls", "--username", "fp")
    shown = run("alerts", "settings", *words, typed="open sesame\n").out
    assert "mail.example.org:587" in shown
    assert "sesame" not in run("alerts", "settings", "--json").out
    kept = json.loads(run("alerts", "settings", "--sender", "fp@example.org", "--json").out)
    assert kept["mail"]["has_password"] is True
    assert json.loads(run("alerts", "settings", "--smtp", "", "--json").out)["mail"] is None
