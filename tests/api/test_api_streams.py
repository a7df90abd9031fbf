"""Events and logs over one connection: each message once, whichever log it is of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from apiclient import Api, Data, Hire, Streamed, fresh

from footplate.server.standing import REFRESH_S
from footplate.testing.fake_clock import FakeClock


@contextmanager
def opened(api: Api, *logs: Data, **more: Any) -> Iterator[Iterator[Streamed]]:
    """The messages after the first, which says where events begin."""
    with api.stream("/stream", method="POST", json={"logs": list(logs), **more}) as messages:
        first = next(messages)
        assert first.kind == "begin"
        assert int(first.cursor) == more.get("after", int(first.cursor))
        yield messages


def log_of(job: Data, **more: Any) -> Data:
    return {"key": job["name"], "job": job["id"], **more}


def until_kind(messages: Iterator[Streamed], kind: str, job: Data) -> list[Streamed]:
    """What comes for a log up to a kind of message."""
    seen: list[Streamed] = []
    for one in messages:
        if one.kind != "event" and one.data["key"] == job["name"]:
            seen.append(one)
            if one.kind == kind:
                return seen
    raise AssertionError(f"the stream broke off after {seen[-3:]}")


def text_of(seen: list[Streamed]) -> str:
    return "".join(one.data["data"]["text"] for one in seen if one.kind == "log")


def test_one_connection_brings_events_and_the_logs_of_several_jobs(ann: Api) -> None:
    one, other = ann.running(cpus=0.1), ann.running(cpus=0.1)
    ann.write_log(one, b"first\n")
    with opened(ann, log_of(one), log_of(other)) as messages:
        assert text_of(until_kind(messages, "log", one)) == "first\n"
        ann.write_log(other, b"second\n")
        assert text_of(until_kind(messages, "log", other)) == "second\n"
        third = ann.submit(cpus=0.1)
        events = (message for message in messages if message.kind == "event")
        assert next(events).data["job_id"] == third["id"]


def test_events_go_on_after_a_log_has_ended(ann: Api) -> None:
    job = ann.finished()
    with opened(ann, log_of(job)) as messages:
        assert until_kind(messages, "end", job)[-1].data["data"]["state"] == "SUCCEEDED"
        made = ann.submit()
        assert next(messages).data["job_id"] == made["id"]


def test_a_stream_that_breaks_off_resumes_each_part_where_it_was(ann: Api) -> None:
    job = ann.running()
    ann.write_log(job, b"before\n")
    with opened(ann, log_of(job), after=0) as messages:
        seen = until_kind(messages, "log", job)
    with opened(ann, after=0) as messages:
        first = next(messages)
    ann.write_log(job, b"meanwhile\n")
    resumed = log_of(job, cursor=seen[-1].cursor)
    with opened(ann, resumed, after=int(first.cursor)) as messages:
        assert text_of(until_kind(messages, "log", job)) == "meanwhile\n"
    with opened(ann, after=int(first.cursor)) as messages:
        assert int(next(messages).cursor) == int(first.cursor) + 1


def test_a_log_that_may_not_be_read_is_refused_and_the_rest_goes_on(ann: Api, admin: Api, hire: Hire) -> None:
    queue = fresh("hidden")
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    hidden, shown = admin.running(queue=queue, cpus=0.1), ann.running(cpus=0.1)
    ann.write_log(shown, b"here\n")
    with opened(ann, log_of(hidden), log_of(shown)) as messages:
        seen = {message.kind: message.data for _, message in zip(range(4), messages, strict=False)}
    refused = seen["refused"]
    assert (refused["key"], refused["data"]["status"]) == (hidden["name"], 404)
    assert refused["data"]["error"]["code"] == "not_found"
    assert seen["log"]["data"]["text"] == "here\n"


def test_the_log_of_a_private_job_is_refused_to_colleagues_and_its_secrets_are_masked(
    ann: Api, hire: Hire
) -> None:
    colleague, secret = hire(default="member"), fresh("secret")
    ann.ok("PUT", f"/secrets/{secret}", json={"value": "hush-hush"})
    job = ann.running(secrets={"TOKEN": secret})
    ann.write_log(job, b"token hush-hush\n")
    with opened(ann, log_of(job)) as messages:
        assert text_of(until_kind(messages, "log", job)) == "token *********\n"
    with opened(colleague, log_of(job)) as messages:
        (refused,) = until_kind(messages, "refused", job)
    assert refused.data["data"]["status"] == 403
    assert "hush" not in str(refused.data)


def test_a_log_is_refused_once_its_reader_may_no_longer_see_the_job(
    admin: Api, hire: Hire, clock: FakeClock
) -> None:
    queue = fresh("queue")
    admin.ok("POST", "/queues", status=201, json={"name": queue})
    reader = hire(**{queue: "admin"})
    job = admin.running(queue=queue)
    admin.write_log(job, b"seen\n")
    with opened(reader, log_of(job)) as messages:
        until_kind(messages, "log", job)
        admin.ok("DELETE", f"/queues/{queue}/members/{reader.name}", status=204)
        clock.advance(REFRESH_S + 1)
        admin.write_log(job, b"not seen\n")
        last = until_kind(messages, "refused", job)
    assert text_of(last) == ""
    assert last[-1].data["data"]["status"] in (403, 404)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"logs": [{"key": "a", "job": "x"}] * 2}, "logs"),
        ({"logs": [{"key": str(n), "job": "x"} for n in range(33)]}, "logs"),
        ({"logs": [{"key": "", "job": "x"}]}, "logs[0].key"),
        ({"after": -1}, "after"),
    ],
)
def test_what_cannot_be_followed_is_refused_at_once(ann: Api, body: Data, field: str) -> None:
    ann.refused("POST", "/stream", 422, field, json=body)


def test_a_bad_cursor_is_told_of_its_own_log(ann: Api) -> None:
    job = ann.running()
    with opened(ann, log_of(job, cursor="nonsense")) as messages:
        assert until_kind(messages, "refused", job)[0].data["data"]["status"] == 422
