"""What the console asks of the API: a log from a place on, searches in it, a day that begins at home."""

from __future__ import annotations

import pytest
from apiclient import Api

from footplate.testing.fake_clock import FakeClock
from footplate.wire.convert import instant
from footplate.wire.jobs import LogMatches
from footplate.wire.platform import HistoryBody, Summary


def test_a_log_is_followed_from_an_offset_on(ann: Api) -> None:
    job = ann.running()
    ann.write_log(job, b"one\ntwo\n")
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    with ann.stream(f"/jobs/{job['id']}/logs/stream", task="main-0", offset=4) as events:
        texts = [event.data["text"] for event in events if event.kind == "log"]
    assert "".join(texts) == "two\n"


def test_an_offset_needs_one_task(ann: Api) -> None:
    job = ann.running(roles=[{"name": "worker", "count": 2, "command": "wait", "cpus": 1}])
    path = f"/jobs/{job['id']}/logs/stream"
    ann.refused("GET", path, 422, "offset", params={"offset": 1})
    ann.refused("GET", path, 422, params={"offset": 1, "tail": 1, "task": "worker-0"})


def test_a_log_is_searched(ann: Api) -> None:
    job = ann.running()
    ann.write_log(job, b"epoch 1\nLoss 3\nepoch 2\nloss 2\n")
    path = f"/jobs/{job['id']}/logs/search"
    found = ann.ok("GET", path, LogMatches, params={"text": "loss", "task": "main-0"})
    assert found == {"items": [8, 23], "next_offset": None}
    first = ann.ok("GET", path, LogMatches, params={"text": "loss", "limit": 1})
    assert first["items"] == [8]
    rest = ann.ok("GET", path, params={"text": "loss", "offset": first["next_offset"]})
    assert rest == {"items": [23], "next_offset": None}
    newest = ann.ok("GET", path, LogMatches, params={"text": "loss", "limit": 1, "before": 2**53})
    assert newest == {"items": [23], "next_offset": 23}
    earlier = ann.ok("GET", path, params={"text": "loss", "before": newest["next_offset"]})
    assert earlier == {"items": [8], "next_offset": None}


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({}, 422),
        ({"text": ""}, 422),
        ({"text": "x", "before": -1}, 422),
        ({"text": "x", "task": "none-0"}, 404),
        ({"text": "x", "attempt": 9}, 404),
    ],
)
def test_a_search_asked_for_badly_is_refused(ann: Api, params: dict[str, str], status: int) -> None:
    job = ann.running()
    ann.refused("GET", f"/jobs/{job['id']}/logs/search", status, params=params)


def test_today_begins_where_the_caller_lives(ann: Api, clock: FakeClock) -> None:
    ann.finished()
    clock.advance(3600)
    late, early = instant(clock.now() - 60), instant(clock.now() - 7200)
    assert ann.ok("GET", "/summary", Summary, params={"since": late})["finished_today"]["SUCCEEDED"] == 0
    assert ann.ok("GET", "/summary", Summary, params={"since": early})["finished_today"]["SUCCEEDED"] >= 1


@pytest.mark.parametrize("since", ["yesterday", "2001-01-01T00:00:00Z"])
def test_a_day_that_is_not_today_is_refused(ann: Api, since: str) -> None:
    ann.refused("GET", "/summary", 422, "since", params={"since": since})


def test_the_last_day_counts_what_jobs_held_while_they_held_it(
    ann: Api, admin: Api, clock: FakeClock
) -> None:
    # Beyond the day whatever other tests have run.
    clock.advance(25 * 3600)
    job = ann.running(cpus=2)
    clock.advance(1800)
    ann.finish(job)
    ann.until(job, "SUCCEEDED")
    clock.advance(3600)
    still = ann.running(cpus=1)
    clock.advance(900)
    found = HistoryBody.model_validate(admin.ok("GET", "/summary/history"))
    cpus = [point.cpus for point in found.points if point is not None]
    assert len(cpus) == 96
    # An hour and three quarters ago two quarters of two CPUs; nothing for an hour; one CPU now.
    assert cpus[-7:] == pytest.approx([2, 2, 0, 0, 0, 0, 1], abs=0.01)
    assert max(cpus[:-7]) == pytest.approx(0, abs=0.01)
    ann.finish(still)
    ann.until(still, "SUCCEEDED")


def test_an_earlier_attempt_counts_as_well(ann: Api, clock: FakeClock) -> None:
    clock.advance(25 * 3600)
    job = ann.running(cpus=3, retry=1)
    clock.advance(900)
    ann.finish(job, code=1)
    again = ann.until(job, "RUNNING", attempt=1)
    clock.advance(900)
    points = ann.ok("GET", "/summary/history")["points"]
    assert [point["cpus"] for point in points[-2:]] == pytest.approx([3, 3], abs=0.05)
    ann.finish(again, attempt=1)
    ann.until(job, "SUCCEEDED")
