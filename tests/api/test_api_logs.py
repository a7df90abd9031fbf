"""Logs over REST: parts, downloads and live streams that miss and repeat nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest
from apiclient import Api, Data, Streamed

from footplate.domain.cluster import Node
from footplate.domain.resources import GIB
from footplate.services import logfollower
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import served, until

NUMBERED = b"".join(b"line %d\n" % number for number in range(100))


def text(api: Api, job: Data, **params: object) -> str:
    answer = api.call("GET", f"/jobs/{job['id']}/logs", params=params)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    return answer.text


def until_end(events: Iterator[Streamed]) -> list[Streamed]:
    """What a stream brings up to and with its end."""
    seen = []
    for event in events:
        seen.append(event)
        if event.kind == "end":
            return seen
    raise AssertionError(f"the stream broke off after {seen[-3:]}")


def logged(events: list[Streamed], attempt: int | None = None) -> str:
    return "".join(
        event.data["text"]
        for event in events
        if event.kind == "log" and attempt in (None, event.data["attempt"])
    )


@pytest.fixture
def job(ann: Api) -> Data:
    """A running job that has printed a hundred lines."""
    running = ann.running()
    ann.write_log(running, NUMBERED)
    return running


def test_a_log_is_read_whole_by_its_end_and_in_parts(ann: Api, job: Data) -> None:
    whole = NUMBERED.decode()
    assert text(ann, job) == whole
    assert text(ann, job, tail=3) == "line 97\nline 98\nline 99\n"
    assert text(ann, job, tail=0) == ""
    assert text(ann, job, tail=10**6) == whole
    assert text(ann, job, offset=14, limit=7) == "line 2\n"
    assert text(ann, job, offset=10**9) == ""
    assert text(ann, job, task="main-0", attempt=0) == text(ann, job, task="main/0") == whole


def test_the_next_offset_leads_through_the_whole_log(ann: Api, job: Data) -> None:
    offset, read = 0, ""
    while True:
        answer = ann.call("GET", f"/jobs/{job['id']}/logs", params={"offset": offset, "limit": 33})
        assert answer.headers["x-log-offset"] == str(offset)
        assert answer.headers["x-log-size"] == str(len(NUMBERED))
        if not answer.text:
            break
        read, offset = read + answer.text, int(answer.headers["x-log-next-offset"])
    assert read == NUMBERED.decode()


def test_parts_never_cut_a_character_in_two(ann: Api) -> None:
    job = ann.running()
    content = "naïve 训练 🚂 done\n" * 5
    ann.write_log(job, content.encode())
    for limit in (4, 5, 7, 11):
        offset, read = 0, ""
        while offset < len(content.encode()):
            answer = ann.call("GET", f"/jobs/{job['id']}/logs", params={"offset": offset, "limit": limit})
            read, offset = read + answer.text, int(answer.headers["x-log-next-offset"])
        assert read == content, limit


def test_bytes_that_are_no_text_are_shown_as_such_and_served_raw(ann: Api) -> None:
    job = ann.running()
    ann.write_log(job, b"\xff\xfe ok \xe8\xae")
    assert text(ann, job) == "\ufffd\ufffd ok "
    raw = ann.call("GET", f"/jobs/{job['id']}/logs", params={"raw": True})
    assert raw.content == b"\xff\xfe ok \xe8\xae"


def test_since_begins_at_a_time_or_a_while_ago(ann: Api, clock: FakeClock) -> None:
    job = ann.running()
    log = ann.log(job)
    ann.write_log(job, b"early\n")
    log.sample(clock.now() + 10, 6)
    clock.advance(100)
    ann.write_log(job, b"late\n")
    assert text(ann, job, since="1m") == "late\n"
    assert text(ann, job, since="10m") == "early\nlate\n"
    assert text(ann, job, since="2001-01-01T00:00:00Z") == "early\nlate\n"
    assert text(ann, job, since="2100-01-01T00:00:00Z") == "late\n"
    ann.refused("GET", f"/jobs/{job['id']}/logs", 422, "since", params={"since": "yesterday"})


def test_since_in_an_earlier_attempt_goes_by_that_attempts_times(ann: Api, clock: FakeClock) -> None:
    job = ann.running(retry=1)
    ann.write_log(job, b"early\n")
    log = ann.log(job)
    log.sample(clock.now() + 10, 6)
    clock.advance(100)
    ann.write_log(job, b"late\n")
    ann.finish(job, code=1)
    ann.until(job, "RUNNING", attempt=1)
    assert text(ann, job, attempt=0, since="1m") == "late\n"


def test_a_redrawn_progress_bar_is_folded_unless_raw(ann: Api) -> None:
    job = ann.running()
    ann.write_log(job, b"10%\r50%\r100%\ndone\r\n")
    assert text(ann, job) == "100%\ndone\n"
    assert text(ann, job, raw=True) == "10%\r50%\r100%\ndone\r\n"


def test_the_log_of_a_task_that_has_not_printed_is_empty(ann: Api) -> None:
    job = ann.running()
    assert text(ann, job) == ""
    assert ann.call("GET", f"/jobs/{job['id']}/logs/download").content == b""
    assert text(ann, job, since="10m") == text(ann, job, tail=5) == ""


@pytest.mark.parametrize(
    ("params", "status", "field"),
    [
        ({"task": "worker-0"}, 404, None),
        ({"task": "main-1"}, 404, None),
        ({"task": "../../../etc"}, 404, None),
        ({"attempt": 1}, 404, None),
        ({"attempt": -1}, 422, "attempt"),
        ({"tail": -1}, 422, "tail"),
        ({"tail": 1, "offset": 1}, 422, "tail"),
        ({"offset": 2**61}, 422, "offset"),
        ({"limit": 0}, 422, "limit"),
        ({"raw": "maybe"}, 422, "raw"),
    ],
)
def test_a_log_that_is_not_there_or_badly_asked_for_is_refused(
    ann: Api, job: Data, params: Data, status: int, field: str | None
) -> None:
    ann.refused("GET", f"/jobs/{job['id']}/logs", status, field, params=params)


RANGES = {
    None: (200, slice(None)),
    "bytes=0-9": (206, slice(0, 10)),
    "bytes=100-": (206, slice(100, None)),
    "bytes=-10": (206, slice(-10, None)),
    "bytes=5-5": (206, slice(5, 6)),
    "bytes=700-999999": (206, slice(700, None)),
    "bytes=-99999": (200, slice(None)),
    "bytes=0-": (200, slice(None)),
    "bytes=9-3": (200, slice(None)),
    "bytes=0-1,5-6": (200, slice(None)),
    "lines=1-2": (200, slice(None)),
    "bytes=-": (200, slice(None)),
}


def test_downloads_and_their_ranges_are_byte_for_byte(ann: Api) -> None:
    job = ann.running()
    content = bytes(range(256)) * 4
    ann.write_log(job, content)
    for asked, (status, part) in RANGES.items():
        headers = {"Range": asked} if asked else {}
        answer = ann.call("GET", f"/jobs/{job['id']}/logs/download", headers=headers)
        assert (answer.status_code, answer.content) == (status, content[part]), asked
        assert answer.headers["accept-ranges"] == "bytes"
        if status == 206:
            start, stop, _ = part.indices(len(content))
            assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/{len(content)}"
    assert f"{job['name']}-main-0-attempt-1.log" in answer.headers["content-disposition"]


@pytest.mark.parametrize(
    "asked", ["bytes=99999-", "bytes=99999-100000", "bytes=-0", f"bytes={'9' * 30}-", f"bytes={'9' * 5000}-"]
)
def test_a_range_beyond_the_end_is_refused_with_the_size(ann: Api, job: Data, asked: str) -> None:
    answer = ann.call("GET", f"/jobs/{job['id']}/logs/download", headers={"Range": asked})
    assert answer.status_code == 416
    assert answer.headers["content-range"] == f"bytes */{len(NUMBERED)}"
    assert answer.json()["code"] == "invalid_input"


def test_a_log_that_grows_during_its_download_comes_as_long_as_it_was(ann: Api) -> None:
    job = ann.running()
    content = b"0123456789abcdef" * (512 * 1024)
    ann.write_log(job, content)
    with ann.http.stream("GET", f"/jobs/{job['id']}/logs/download") as answer:
        chunks = answer.iter_raw()
        first = next(chunks)
        ann.write_log(job, b"more" * 1_000_000)
        assert first + b"".join(chunks) == content


@pytest.mark.our_nodes
def test_a_follower_sees_all_from_the_first_wait_to_the_end(ann: Api) -> None:
    job = ann.submit(name="followed")
    with ann.stream(f"/jobs/{job['id']}/logs/stream") as events:
        first = next(events)
        assert (first.kind, first.data["kind"]) == ("step", "submitted")
        ann.until(job, "RUNNING")
        ann.write_log(job, b"hello\n")
        seen = list(takewhile(lambda event: event.kind != "log", events))
        ann.write_log(job, b"bye\n")
        ann.finish(job, code=7)
        seen += until_end(events)
    assert logged(seen) == "bye\n"
    assert [event.data["state"] for event in seen if event.kind == "state"][-1] == "FAILED"
    assert seen[-1].data["state"] == "FAILED"
    assert seen[-1].data["exit_code"] == 7
    assert [event.data["kind"] for event in seen if event.kind == "step"] == ["task_exited"]


@pytest.mark.our_nodes
def test_following_a_finished_job_brings_everything_and_ends(ann: Api) -> None:
    job = ann.finished()
    ann.write_log(job, NUMBERED)
    with ann.stream(f"/jobs/{job['id']}/logs/stream") as events:
        seen = until_end(events)
    assert logged(seen) == NUMBERED.decode()
    assert [event.kind for event in seen if event.kind != "log"] == ["step", "step", "state", "end"]


def test_a_follower_may_begin_at_the_last_lines(ann: Api) -> None:
    job = ann.finished()
    ann.write_log(job, NUMBERED)
    with ann.stream(f"/jobs/{job['id']}/logs/stream", tail=2) as events:
        assert logged(until_end(events)) == "line 98\nline 99\n"


@pytest.mark.our_nodes
def test_a_stream_that_breaks_off_anywhere_resumes_without_loss_or_repetition(ann: Api) -> None:
    job = ann.running(roles=[{"name": "a", "command": "wait"}, {"name": "b", "command": "wait", "count": 2}])
    content = {"a-0": "第一 🚂\n" * 9000, "b-0": "x" * 100_000 + "\n", "b-1": "y\n"}
    for name, printed in content.items():
        ann.write_log(job, printed.encode(), role=name[0], index=int(name[2]))
    for name in content:
        ann.finish(job, role=name[0], index=int(name[2]))
    ann.until(job, "SUCCEEDED")
    with ann.stream(f"/jobs/{job['id']}/logs/stream") as events:
        whole = until_end(events)
    pieces: dict[str, str] = dict.fromkeys(content, "")
    steps: list[int] = []
    cursor, is_over = "", False
    while not is_over:
        with ann.stream(f"/jobs/{job['id']}/logs/stream", cursor) as events:
            for event in events:
                if event.kind == "log":
                    pieces[event.data["task"]] += event.data["text"]
                elif event.kind == "step":
                    steps.append(event.data["seq"])
                cursor, is_over = event.cursor, event.kind == "end"
                if event.kind in ("log", "step", "end"):
                    break
    assert pieces == content
    assert steps == [event.data["seq"] for event in whole if event.kind == "step"]
    assert len(steps) == 4


def test_a_live_stream_that_breaks_off_resumes_after_the_job_is_over(ann: Api) -> None:
    job = ann.running(count=3, cpus=0.1)
    for index in range(2):
        ann.write_log(job, b"early %d\n" % index, index=index)
    with ann.stream(f"/jobs/{job['id']}/logs/stream") as events:
        seen = [*takewhile(lambda event: event.kind != "state", events)]
    for index in range(3):
        ann.write_log(job, b"late %d\n" % index, index=index)
        ann.finish(job, index=index)
    ann.until(job, "SUCCEEDED")
    with ann.stream(f"/jobs/{job['id']}/logs/stream", seen[-1].cursor) as events:
        resumed = until_end(events)
    assert sorted(logged(seen).splitlines()) == ["early 0", "early 1"]
    assert sorted(logged(resumed).splitlines()) == ["late 0", "late 1", "late 2"]
    with ann.stream(f"/jobs/{job['id']}/logs/stream", resumed[-1].cursor) as events:
        assert logged(until_end(events)) == ""


def test_bytes_at_the_end_that_form_no_character_are_told(ann: Api) -> None:
    job = ann.running()
    with ann.stream(f"/jobs/{job['id']}/logs/stream") as events:
        ann.write_log(job, b"cut \xe8\xae")
        ann.finish(job)
        assert logged(until_end(events)) == "cut \ufffd"


def test_a_cursor_of_the_largest_gang_is_taken(ann: Api, job: Data) -> None:
    offsets = ",".join(f"{place}={10**9 + place}" for place in range(10_000))
    with ann.stream(f"/jobs/{job['id']}/logs/stream", f"0|0|{offsets}") as events:
        assert next(events).data["kind"] == "submitted"


@pytest.mark.alone
def test_following_a_gang_of_a_thousand_holds_up_nobody(tmp_path: Path) -> None:
    clock = FakeClock()
    engine = FakeEngine(clock, [Node("large", 1_000_000, 1000 * GIB)])
    with (
        served(tmp_path, engine, clock) as server,
        Api(server, server.sign_in()) as api,
        Api(server, api.token) as other,
    ):
        gang = api.submit(command="true", count=1000, cpus=0.1, memory="16MB")
        until(lambda: api.job(gang["id"])["state"] == "SUCCEEDED", 60)
        for index in range(1000):
            api.write_log(gang, b"%5d\n" % index, index=index)
        seen: list[Streamed] = []

        def follow() -> None:
            with api.stream(f"/jobs/{gang['id']}/logs/stream") as events:
                seen.extend(until_end(events))

        follower = threading.Thread(target=follow)
        begun_at, longest_s = time.monotonic(), 0.0
        follower.start()
        while follower.is_alive():
            asked_at = time.monotonic()
            other.ok("GET", "/health")
            longest_s = max(longest_s, time.monotonic() - asked_at)
        took_s = time.monotonic() - begun_at
    assert sorted(logged(seen).split()) == sorted(map(str, range(1000)))
    assert max(len(event.cursor) for event in seen) < 1000
    assert (took_s < 8, longest_s < 1) == (True, True), (took_s, longest_s)


@pytest.mark.our_nodes
def test_a_resumed_stream_brings_the_steps_that_happened_meanwhile(ann: Api) -> None:
    job = ann.running(retry=1)
    with ann.stream(f"/jobs/{job['id']}/logs/stream") as events:
        cursor = next(event for event in events if event.kind == "state").cursor
    ann.finish(job, code=1)
    ann.until(job, "RUNNING", attempt=1)
    ann.finish(job, attempt=1)
    ann.until(job, "SUCCEEDED")
    with ann.stream(f"/jobs/{job['id']}/logs/stream", cursor) as events:
        seen = until_end(events)
    assert [event.data["kind"] for event in seen if event.kind == "step"] == [
        "task_exited",
        "requeued",
        "task_exited",
    ]


def test_a_follower_goes_on_across_a_retry(ann: Api) -> None:
    job = ann.running(retry=1)
    with ann.stream(f"/jobs/{job['id']}/logs/stream") as events:
        ann.write_log(job, b"first try\n")
        ann.finish(job, code=1)
        ann.until(job, "RUNNING", attempt=1)
        ann.write_log(job, b"second try\n", attempt=1)
        ann.finish(job, attempt=1)
        seen = until_end(events)
    assert logged(seen, attempt=0) == "first try\n"
    assert logged(seen, attempt=1) == "second try\n"
    assert seen[-1].data["state"] == "SUCCEEDED"


def test_following_one_attempt_ends_with_it(ann: Api) -> None:
    job = ann.running(retry=1)
    ann.write_log(job, b"first try\n")
    with ann.stream(f"/jobs/{job['id']}/logs/stream", attempt=0) as events:
        ann.finish(job, code=1)
        assert logged(until_end(events)) == "first try\n"
    ann.until(job, "RUNNING", attempt=1)
    with ann.stream(f"/jobs/{job['id']}/logs/stream", attempt=0) as events:
        assert logged(until_end(events)) == "first try\n"


def test_a_follower_is_told_when_the_job_is_deleted(ann: Api) -> None:
    job = ann.running()
    with ann.stream(f"/jobs/{job['id']}/logs/stream") as events:
        next(events)
        ann.ok("DELETE", f"/jobs/{job['id']}", status=202)
        assert until_end(events)[-1].data["state"] in ("STOPPED", "DELETED")


def test_a_job_of_more_events_than_one_look_takes_is_told_whole(
    ann: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logfollower, "EVENTS_AT_ONCE", 3)
    job = ann.running(count=7, cpus=0.1)
    for index in range(7):
        ann.finish(job, index=index)
    ann.until(job, "SUCCEEDED")
    with ann.stream(f"/jobs/{job['id']}/logs/stream") as events:
        seen = until_end(events)
    assert [event.data["kind"] for event in seen if event.kind == "step"].count("task_exited") == 7


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "-1|0|",
        "0|-1|",
        "0|0|0=-5",
        "0|0|main-0=5",
        "0|0|10000=5",
        "0|0",
        f"0|{2**70}|",
        "0|0|0=" + "9" * 5000,
        "0|0||-1",
        "0|0||g",
        "0|0||1|1",
        "0|0||" + "f" * 5000,
    ],
)
def test_a_forged_cursor_is_refused(ann: Api, job: Data, cursor: str) -> None:
    path = f"/jobs/{job['id']}/logs/stream"
    ann.refused("GET", path, 422, "Last-Event-ID", headers={"Last-Event-ID": cursor})


def test_a_stream_asked_for_badly_is_refused_before_it_begins(ann: Api, job: Data) -> None:
    path = f"/jobs/{job['id']}/logs/stream"
    ann.refused("GET", path, 422, "tail", params={"tail": 1, "since": "10m"})
    ann.refused("GET", path, 404, params={"task": "nobody-0"})
    ann.refused("GET", path, 404, params={"attempt": 3})


def test_many_followers_of_one_log_all_see_it_whole(ann: Api) -> None:
    job = ann.running()
    path = f"/jobs/{job['id']}/logs/stream"
    seen: list[str] = []

    def follow() -> None:
        with Api(ann.served, ann.token) as reader, reader.stream(path) as events:
            seen.append(logged(until_end(events)))

    readers = [threading.Thread(target=follow) for _ in range(5)]
    for reader in readers:
        reader.start()
    for number in range(50):
        ann.write_log(job, b"%d\n" % number)
    ann.finish(job)
    until(lambda: len(seen) == 5)
    for reader in readers:
        reader.join()
    assert set(seen) == {"".join(f"{number}\n" for number in range(50))}
