"""Times without a zone are those of the user's clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from footplate.sdk.submission import prepare
from footplate.sdk.zones import in_my_zone, with_zone


@pytest.fixture(autouse=True)
def shanghai(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("2030-01-31T18:00", "2030-01-31T18:00:00+08:00"),
        ("2030-01-31 18:00:00", "2030-01-31T18:00:00+08:00"),
        ("2030-01-31", "2030-01-31T00:00:00+08:00"),
        ("2030-01-31T18:00:00Z", "2030-01-31T18:00:00Z"),
        ("2030-01-31T18:00:00+01:00", "2030-01-31T18:00:00+01:00"),
        (datetime(2030, 1, 31, 18), "2030-01-31T18:00:00+08:00"),  # noqa: DTZ001  # what it is about
        (datetime(2030, 1, 31, 10, tzinfo=UTC), "2030-01-31T18:00:00+08:00"),
        ("tomorrow", "tomorrow"),
        ("10m", "10m"),
        (None, None),
        (5, 5),
    ],
)
def test_a_time_is_sent_with_its_zone(given: Any, sent: Any) -> None:
    assert with_zone(given) == sent


def test_every_time_of_a_job_document_is_zoned() -> None:
    at = "2030-01-31T18:00"
    document = {"deadline": at, "alerts": [{"on": "deadline", "at": at}, {"on": "failed"}, "odd"]}
    zoned = "2030-01-31T18:00:00+08:00"
    assert in_my_zone(document) == {
        "deadline": zoned,
        "alerts": [{"on": "deadline", "at": zoned}, {"on": "failed"}, "odd"],
    }


def test_a_submission_has_the_users_zone() -> None:
    submission = prepare({"name": "x", "command": "true"}, deadline="2030-01-31T18:00")
    assert submission.document["deadline"] == "2030-01-31T18:00:00+08:00"
