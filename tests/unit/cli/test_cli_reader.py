"""In whose language the command speaks, and by whose clock."""

from __future__ import annotations

import time

import pytest
from commandline import Command

from footplate.cli.reader import language_of
from footplate.testing.fake_server import FakeServer, Reply, job

EVENTS = "GET /jobs/0abcdefghjk1/events"
LATER = {
    "code": "retry_later",
    "message": "away; retry 2 of 8, not before 2027-01-15 08:00:01 UTC",
    "message_code": "retried_later",
    "params": {
        "why": {"code": "stopped_by", "params": {"by": "ann"}},
        "not_before": "2027-01-15T08:00:01.000Z",
    },
    "details": {},
}


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"}, "en"),
        ({"LANG": "C", "LC_ALL": "zh_TW.UTF-8", "LC_MESSAGES": "C"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
    ],
)
def test_the_first_variable_that_is_set_decides(environment: dict[str, str], language: str) -> None:
    assert language_of(environment) == language


def test_what_a_job_waits_for_is_told_in_the_readers_language_and_by_their_clock(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    server.on("GET /jobs/digits", job(state="QUEUED", reason=LATER))
    server.on(EVENTS, {"items": [], "next_after": 0})
    try:
        assert "由 ann 停止，不早于 2027-01-15 16:00:01" in footplate("show", "digits").out
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_refusal_is_told_in_the_readers_language(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    said = {"message": "there is no queue x", "message_code": "queue_unknown", "params": {"queue": "x"}}
    body = {"code": "not_found", **said, "problems": [], "request_id": "r"}
    server.on("GET /jobs/digits", Reply(404, body))
    assert "没有队列 x" in footplate("show", "digits").err


def test_a_sentence_that_only_the_server_knows_is_shown_in_its_own_words(
    server: FakeServer, footplate: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    newer = {**LATER, "message": "something new", "message_code": "of_tomorrow"}
    server.on("GET /jobs/digits", job(state="QUEUED", reason=newer))
    server.on(EVENTS, {"items": [], "next_after": 0})
    assert "something new" in footplate("show", "digits").out
