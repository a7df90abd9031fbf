"""The event log over REST: pages and a stream, both resumed without loss or repetition."""

from __future__ import annotations

import threading
from itertools import islice
from typing import Any

import pytest
from apiclient import Api, Data, Hire, Streamed, fresh

from footplate.server.standing import REFRESH_S
from footplate.testing.fake_clock import FakeClock
from footplate.wire.events import EventBody, Events


def last(api: Api) -> int:
    """The number of the newest event."""
    after = 0
    while True:
        found = api.ok("GET", "/events", Events, params={"after": after, "limit": 1000})
        if not found["items"]:
            return after
        after = found["next_after"]


def events_of(api: Api, job: Data, **params: Any) -> list[Data]:
    return list(api.ok("GET", f"/jobs/{job['id']}/events", Events, params=params)["items"])


@pytest.mark.our_nodes
def test_the_life_of_a_job_is_told_in_order(ann: Api) -> None:
    job = ann.finished()
    kinds = [event["kind"] for event in events_of(ann, job)]
    assert kinds == ["submitted", "starting", "task_started", "running", "task_exited", "succeeded"]
    assert [event["kind"] for event in events_of(ann, job, limit=2)] == kinds[:2]


def test_events_can_be_asked_for_by_kind(ann: Api) -> None:
    job = ann.finished()
    found = events_of(ann, job, kind=["task_exited", "succeeded"])
    assert [event["kind"] for event in found] == ["task_exited", "succeeded"]
    assert events_of(ann, job, kind=["nothing"]) == []
    ann.refused("GET", f"/jobs/{job['id']}/events", 422, params={"kind": ["x"] * 21})


def test_pages_of_events_bring_each_once(admin: Api) -> None:
    before = last(admin)
    jobs = [admin.finished(cpus=0.1) for _ in range(3)]
    after, seen = before, list[Data]()
    while True:
        page = admin.ok("GET", "/events", Events, params={"after": after, "limit": 4})
        if not page["items"]:
            break
        seen += page["items"]
        after = page["next_after"]
    numbers = [event["seq"] for event in seen]
    assert numbers == list(range(before + 1, before + 1 + len(numbers)))
    assert {event["job_id"] for event in seen} >= {job["id"] for job in jobs}


def test_a_stream_resumed_at_every_event_brings_each_once_while_jobs_run(admin: Api) -> None:
    begin, n_events = last(admin), 8 * 6

    def work() -> None:
        with Api(admin.served, admin.token) as other:
            for _ in range(8):
                other.finished(cpus=0.1)

    worker = threading.Thread(target=work)
    worker.start()
    seen: list[Streamed] = []
    cursor = str(begin)
    while len(seen) < n_events:
        with admin.stream("/events/stream", cursor) as events:
            seen += islice(events, min(len(seen) % 3 + 1, n_events - len(seen)))
        cursor = seen[-1].cursor
    worker.join()
    assert [event.data["seq"] for event in seen] == list(range(begin + 1, begin + 1 + len(seen)))
    assert [event.cursor for event in seen] == [str(event.data["seq"]) for event in seen]
    for event in seen:
        EventBody.model_validate(event.data)


@pytest.mark.our_nodes
def test_a_stream_begins_now_unless_told_otherwise(ann: Api) -> None:
    old = ann.finished()
    with ann.stream("/events/stream") as events:
        new = ann.submit()
        assert next(events).data["job_id"] == new["id"]
    with ann.stream("/events/stream", after=0, job=old["name"]) as events:
        assert [next(events).data["kind"] for _ in range(2)] == ["submitted", "starting"]


def test_a_stream_of_one_job_brings_nothing_of_others(ann: Api) -> None:
    job = ann.running()
    with ann.stream("/events/stream", after=0, job=job["id"]) as events:
        seen = [next(events)]
        ann.finished()
        ann.finish(job)
        while seen[-1].data["kind"] != "succeeded":
            seen.append(next(events))
    assert {event.data["job_id"] for event in seen} == {job["id"]}


def test_a_member_sees_the_events_of_their_queues_only(ann: Api, admin: Api, hire: Hire) -> None:
    queue = fresh("hidden")
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    insider = hire(**{queue: "viewer"})
    begin = last(admin)
    hidden = admin.finished(queue=queue)
    shown = ann.finished()
    seen = {api: api.ok("GET", "/events", Events, params={"after": begin})["items"] for api in (ann, insider)}
    assert {event["job_id"] for event in seen[ann]} == {shown["id"]}
    assert {event["job_id"] for event in seen[insider]} == {hidden["id"]}
    with ann.stream("/events/stream", str(begin)) as events:
        assert next(events).data["job_id"] == shown["id"]
        admin.finished(queue=queue)
        marker = ann.submit()
        live = [next(events).data["job_id"] for _ in range(6)]
        assert set(live) == {shown["id"], marker["id"]}
    ann.refused("GET", "/events/stream", 404, params={"job": hidden["id"]})
    ann.refused("GET", f"/jobs/{hidden['id']}/events", 404)


def test_a_stream_goes_on_without_the_queue_that_was_taken_from_its_reader(
    ann: Api, admin: Api, hire: Hire, clock: FakeClock
) -> None:
    queue = fresh("lent")
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    reader = hire(**{queue: "viewer", "default": "viewer"})
    with reader.stream("/events/stream") as events:
        lent = admin.running(queue=queue)
        seen = [next(events).data for _ in range(4)]
        assert {event["job_id"] for event in seen} == {lent["id"]}
        admin.ok("DELETE", f"/queues/{queue}/members/{reader.name}", status=204)
        clock.advance(REFRESH_S)
        admin.finish(lent)
        admin.until(lent, "SUCCEEDED")
        marker = ann.submit()
        assert next(events).data["job_id"] == marker["id"]


@pytest.mark.parametrize("path", ["/events/stream", "/jobs/{}/logs/stream"])
@pytest.mark.parametrize("is_disabled", [True, False])
def test_a_stream_of_one_job_ends_soon_after_its_reader_may_not_see_it(
    ann: Api, admin: Api, hire: Hire, clock: FakeClock, path: str, is_disabled: bool
) -> None:
    job = ann.running(shared=True)
    reader = hire(default="viewer")
    params = {"job": job["id"], "after": 0} if path == "/events/stream" else {}
    with reader.stream(path.format(job["id"]), **params) as events:
        next(events)
        if is_disabled:
            admin.ok("PATCH", f"/users/{reader.name}", json={"is_enabled": False})
        else:
            admin.ok("DELETE", f"/queues/default/members/{reader.name}", status=204)
        clock.advance(REFRESH_S)
        ann.write_log(job, b"secret")
        ann.finish(job)
        ann.until(job, "SUCCEEDED")
        seen = list(events)
    assert "secret" not in str(seen)
    assert "task_exited" not in [event.data.get("kind") for event in seen]


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "99999999999999999999", str(2**60 + 1)])
def test_a_forged_cursor_is_refused(ann: Api, cursor: str) -> None:
    ann.refused("GET", "/events/stream", 422, "Last-Event-ID", headers={"Last-Event-ID": cursor})


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"after": -1}, "after"),
        ({"after": 2**61}, "after"),
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
    ],
)
def test_a_page_out_of_bounds_is_refused(ann: Api, params: Data, field: str) -> None:
    ann.refused("GET", "/events", 422, field, params=params)


def test_a_deleted_job_is_told_as_gone(ann: Api) -> None:
    job = ann.finished()
    with ann.stream("/events/stream", job=job["id"]) as events:
        ann.ok("DELETE", f"/jobs/{job['id']}?for_good=true", status=204)
        kinds = [next(events).data["kind"] for _ in range(2)]
    assert kinds == ["delete_asked", "deleted"]
    ann.refused("GET", f"/jobs/{job['id']}", 404)
