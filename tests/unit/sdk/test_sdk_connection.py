from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from footplate.domain.errors import (
    Conflict,
    FootplateError,
    InvalidInput,
    NotFound,
    Throttled,
    Unauthenticated,
)
from footplate.sdk import settings
from footplate.sdk.client import Client
from footplate.sdk.errors import TimedOut, Unreachable
from footplate.sdk.follow import Ended, LogText
from footplate.testing.fake_server import Asked, FakeServer, Reply, error, job, stream

LOST = Reply(status=0)


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_server_that_is_not_there_is_named_with_what_to_do() -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    with Client(url, "t") as client, pytest.raises(Unreachable, match=f"{url}; is it running.*footplate up"):
        client.whoami()


def test_errors_come_back_as_their_classes_with_every_problem(server: FakeServer, client: Client) -> None:
    server.on(
        "POST /jobs", error("invalid_input", "no", 422, ("name", "is required"), ("cpus", "is too much"))
    )
    with pytest.raises(InvalidInput) as caught:
        client.submit({"command": "true"})
    assert [(problem.path, problem.message) for problem in caught.value.problems] == [
        ("name", "is required"),
        ("cpus", "is too much"),
    ]


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [("not_found", 404, NotFound), ("invalid_transition", 409, Conflict), ("from_the_future", 409, Conflict)],
)
def test_codes_choose_the_class(
    server: FakeServer, client: Client, code: str, status: int, kind: type[FootplateError]
) -> None:
    server.on("GET /jobs/x", error(code, "because", status))
    with pytest.raises(kind, match="because"):
        client.job("x")


def test_throttling_says_when_to_come_back(server: FakeServer, client: Client) -> None:
    reply = error("throttled", "too many tries", 429)
    reply.headers["Retry-After"] = "7"
    server.on("GET /me", reply)
    with pytest.raises(Throttled) as caught:
        client.whoami()
    assert caught.value.retry_after_s == 7


def test_an_answer_that_is_not_ours_is_explained(server: FakeServer, client: Client) -> None:
    server.on("GET /me", Reply(404, content=b"<html>nginx</html>"))
    with pytest.raises(NotFound, match="is it a Footplate server"):
        client.whoami()


def test_without_credentials_the_way_to_log_in_is_told(server: FakeServer) -> None:
    server.on("GET /me", error("unauthenticated", "who are you?", 401))
    with Client(server.url) as client, pytest.raises(Unauthenticated, match="footplate login"):
        client.whoami()


def test_a_password_is_traded_for_a_token_once_and_again_when_it_expires(server: FakeServer) -> None:
    server.on("POST /login", {"token": "one"}, {"token": "two"})
    server.on("GET /me", {"name": "ada"}, error("unauthenticated", "expired", 401), {"name": "ada"})
    with Client(server.url, user="ada", password="pw") as client:
        client.whoami()
        client.whoami()
    sent = [asked.headers["authorization"] for asked in server.requests("GET /me")]
    assert sent == ["Bearer one", "Bearer one", "Bearer two"]


def test_threads_that_share_a_client_log_in_once(server: FakeServer) -> None:
    server.on("POST /login", {"token": "one"}, {"token": "two"})
    server.on("GET /me", {"name": "ada"})
    with Client(server.url, user="ada", password="pw") as client, ThreadPoolExecutor(8) as threads:
        names = list(threads.map(lambda _: client.whoami()["name"], range(32)))
    assert names == ["ada"] * 32
    assert len(server.requests("POST /login")) == 1


def test_a_token_that_was_refused_to_many_threads_is_renewed_once(server: FakeServer) -> None:
    def me(asked: Asked) -> Reply:
        is_old = asked.headers["authorization"] == "Bearer one"
        return error("unauthenticated", "expired", 401) if is_old else Reply(data={"name": "ada"})

    server.on("POST /login", {"token": "one"}, {"token": "two"}, {"token": "three"})
    server.on("GET /me", me)
    with Client(server.url, user="ada", password="pw") as client, ThreadPoolExecutor(8) as threads:
        names = list(threads.map(lambda _: client.whoami()["name"], range(32)))
    assert names == ["ada"] * 32
    assert len(server.requests("POST /login")) == 2


def test_a_server_that_is_only_starting_is_asked_again(server: FakeServer) -> None:
    server.on("GET /me", error("starting", "the server is starting", 503), {"name": "ada"})
    with Client(server.url, token="one") as client:
        assert client.whoami()["name"] == "ada"


def test_a_submit_whose_answer_got_lost_is_repeated_under_the_same_key(
    server: FakeServer, client: Client
) -> None:
    server.on("POST /jobs", LOST, LOST, Reply(201, job()))
    client.submit({"name": "digits", "command": "true"})
    keys = [asked.headers["idempotency-key"] for asked in server.requests("POST /jobs")]
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_two_submits_have_two_keys(server: FakeServer, client: Client) -> None:
    server.on("POST /jobs", Reply(201, job()))
    client.submit({"name": "a", "command": "true"})
    client.submit({"name": "a", "command": "true"})
    assert len({asked.headers["idempotency-key"] for asked in server.asked}) == 2


def test_what_must_not_happen_twice_is_not_repeated(server: FakeServer, client: Client) -> None:
    server.on("POST /users", LOST)
    with pytest.raises(Unreachable, match="broke"):
        client.create_user("eve", "pw")
    assert len(server.asked) == 1


def log(text: str, offset: int = 0) -> dict[str, object]:
    return {"task": "main-0", "attempt": 0, "offset": offset, "text": text}


END = {"state": "SUCCEEDED", "reason": {"code": "completed", "message": "all done"}, "exit_code": None}
STATE = {"state": "RUNNING", "reason": {"code": "running", "message": "runs"}, "attempt": 0}


def test_a_broken_stream_goes_on_behind_the_last_event(server: FakeServer, client: Client) -> None:
    server.on("GET /jobs/x", job(id="x"))
    server.on(
        "GET /jobs/x/logs/stream",
        stream(("state", STATE), ("log", log("one\n"), "c1"), is_cut=True),
        Reply(503, content=b"starting"),
        stream(("log", log("two\n", 4), "c2"), ("end", END)),
    )
    seen = list(client.job("x").follow())
    assert [event.text for event in seen if isinstance(event, LogText)] == ["one\n", "two\n"]
    assert seen[-1] == Ended("SUCCEEDED", END["reason"], None)  # type: ignore[arg-type]
    resumed = [asked.headers.get("last-event-id") for asked in server.requests("GET /jobs/x/logs/stream")]
    assert resumed == [None, "c1", "c1"]


def test_a_stream_that_ends_early_is_opened_again(server: FakeServer, client: Client) -> None:
    server.on("GET /jobs/x", job(id="x"))
    server.on(
        "GET /jobs/x/logs/stream",
        stream(("log", log("one\n"), "c1")),
        stream(("log", log("two\n", 4), "c2"), ("end", END)),
    )
    assert list(client.job("x").logs(follow=True)) == ["one", "two"]


def test_a_stream_gives_up_when_the_server_stays_away(server: FakeServer) -> None:
    server.on("GET /jobs/x", job(id="x"))
    server.on("GET /jobs/x/logs/stream", stream(("log", log("one\n"), "c1"), is_cut=True), Reply(502))
    with Client(server.url, "t", give_up_s=0.05) as client, pytest.raises(Unreachable, match="tried for"):
        list(client.job("x").follow())


def test_a_silent_job_does_not_use_up_the_patience(server: FakeServer) -> None:
    server.on("GET /jobs/x", job(id="x"))
    server.on(
        "GET /jobs/x/logs/stream",
        lambda _: Reply(headers={}, pieces=silent_for(0.3), is_cut=True),
        stream(("end", END)),
    )
    with Client(server.url, "t", give_up_s=0.1) as client:
        assert isinstance(list(client.job("x").follow())[-1], Ended)


def silent_for(seconds: float) -> Iterator[bytes]:
    yield b": ping\n\n"
    time.sleep(seconds)  # the silence itself is what is tested


def test_a_server_that_comes_back_with_a_new_token_is_followed_on(
    server: FakeServer,
) -> None:
    path = settings.home_file(None)
    settings.write(path, settings.Settings(server.url, "old"))
    refused = error("unauthenticated", "no valid token", 401)

    def restart(_: Asked) -> Reply:
        settings.write(path, settings.Settings(server.url, "new"))
        return refused

    server.on("GET /jobs/x", job(id="x"))
    server.on(
        "GET /jobs/x/logs/stream",
        stream(("log", log("one\n"), "c1"), is_cut=True),
        restart,
        stream(("log", log("two\n", 4), "c2"), ("end", END)),
    )
    with Client() as client:
        assert list(client.job("x").logs(follow=True)) == ["one", "two"]
    assert server.asked[-1].headers["authorization"] == "Bearer new"


def test_a_stream_of_a_job_that_is_gone_ends_with_that(server: FakeServer, client: Client) -> None:
    server.on("GET /jobs/x", job(id="x"))
    server.on(
        "GET /jobs/x/logs/stream",
        stream(("log", log("one\n"), "c1"), is_cut=True),
        error("not_found", "no job x", 404),
    )
    with pytest.raises(NotFound, match="no job x"):
        list(client.job("x").follow())


def test_waiting_returns_at_the_end_or_at_a_wanted_state(server: FakeServer, client: Client) -> None:
    server.on(
        "GET /jobs/x", job(id="x", state="QUEUED"), job(id="x", state="QUEUED"), job(id="x", state="RUNNING")
    )
    assert client.job("x").wait(until="RUNNING").state == "RUNNING"
    server.on("GET /jobs/x", job(id="x"), job(id="x", state="FAILED"))
    assert client.job("x").wait().state == "FAILED"


def test_waiting_too_long_is_an_error_and_the_job_goes_on(server: FakeServer, client: Client) -> None:
    server.on("GET /jobs/x", job(id="x"))
    with pytest.raises(TimedOut, match=r"still RUNNING after 0.05 s$"):
        client.job("x").wait(timeout=0.05)


def test_waiting_goes_on_when_the_server_was_away(server: FakeServer, client: Client) -> None:
    away = [LOST] * 8
    server.on("GET /jobs/x", job(id="x"), job(id="x"), *away, job(id="x", state="SUCCEEDED"))
    assert client.job("x").wait(timeout=10).state == "SUCCEEDED"


def test_waiting_gives_up_when_the_server_stays_away(server: FakeServer) -> None:
    server.on("GET /jobs/x", job(id="x"), job(id="x"), LOST)
    with (
        Client(server.url, "secret", give_up_s=0.1) as client,
        pytest.raises(Unreachable, match=r"tried for \d+ seconds?"),
    ):
        client.job("x").wait(timeout=10)


def test_events_of_the_platform_are_followed_from_now_on_or_from_a_number(
    server: FakeServer, client: Client
) -> None:
    server.on("GET /events/stream", stream(("event", {"seq": 7}, "7")))
    assert next(client.events(follow=True)) == {"seq": 7}
    assert next(client.events(3, follow=True)) == {"seq": 7}
    assert [asked.query for asked in server.requests("GET /events/stream")] == [{}, {"after": ["3"]}]


def test_events_of_a_job_that_is_over_are_not_waited_for(server: FakeServer, client: Client) -> None:
    server.on("GET /jobs/x", job(id="x", state="FAILED"))
    last = {"items": [], "next_after": 1}
    server.on("GET /jobs/x/events", {"items": [{"seq": 1, "kind": "failed"}], "next_after": 1}, last)
    assert [event["seq"] for event in client.job("x").events(follow=True)] == [1]


def test_jobs_are_listed_over_all_pages(server: FakeServer, client: Client) -> None:
    def page(asked: Asked) -> Reply:
        token = asked.query.get("page_token", ["0"])[0]
        following = {"0": "1", "1": "2"}.get(token)
        return Reply(data={"items": [job(id=f"{token}a"), job(id=f"{token}b")], "next_page_token": following})

    server.on("GET /jobs", page)
    assert [one.id for one in client.jobs(state=["RUNNING", "QUEUED"])] == [
        "0a",
        "0b",
        "1a",
        "1b",
        "2a",
        "2b",
    ]
    assert server.asked[0].query["state"] == ["RUNNING", "QUEUED"]
    assert [one.id for one in client.jobs(limit=3)] == ["0a", "0b", "1a"]


def test_a_taken_name_gets_the_next_free_number(server: FakeServer, client: Client) -> None:
    taken = error("conflict", "a job named digits exists", 409)
    server.on("POST /jobs", taken, lambda asked: Reply(201, job(name=asked.json["name"])))
    server.on("GET /me", {"name": "ada", "is_admin": False, "queues": []})
    names = ["digits", "digits-2", "digits-7", "digits-x", "other-digits-9"]
    server.on("GET /jobs", {"items": [job(name=name) for name in names], "next_page_token": None})
    assert client.submit({"name": "digits", "command": "true"}, again=True).name == "digits-3"


def test_a_long_log_is_read_in_pages_up_to_where_it_was(server: FakeServer, client: Client) -> None:
    text = b"".join(b"line %d\n" % i for i in range(10))

    def page(asked: Asked) -> Reply:
        offset = int(asked.query["offset"][0])
        piece = text[offset : offset + 21]
        headers = {"X-Log-Size": str(len(text)), "X-Log-Next-Offset": str(offset + len(piece))}
        return Reply(content=piece, headers=headers)

    server.on("GET /jobs/x", job(id="x"))
    server.on("GET /jobs/x/logs", page)
    assert list(client.job("x").logs()) == [f"line {i}" for i in range(10)]


def test_a_log_is_stored_byte_for_byte(server: FakeServer, client: Client, tmp_path: Path) -> None:
    content = bytes(range(256)) * 100
    server.on("GET /jobs/x", job(id="x"))
    server.on("GET /jobs/x/logs/download", Reply(content=content))
    path = client.job("x").download_log(tmp_path / "log", "main-0")
    assert path.read_bytes() == content


def test_deleting_tells_whether_the_job_is_gone(server: FakeServer, client: Client) -> None:
    server.on("GET /jobs/x", job(id="x"))
    server.on("DELETE /jobs/x", Reply(202), Reply(204))
    one = client.job("x")
    assert one.delete() is False
    assert one.delete() is True


def test_a_client_with_a_password_takes_its_token_back_when_it_closes(server: FakeServer) -> None:
    server.on("POST /login", {"token": "mine", "id": "9", "user": "ada", "expires_at": None})
    server.on("GET /me", {"name": "ada"})
    server.on("DELETE /tokens/9", Reply(204))
    with Client(server.url, user="ada", password="pw") as client:
        client.whoami()
        client.whoami()
    assert len(server.requests("POST /login")) == 1
    assert [one.headers["authorization"] for one in server.requests("DELETE /tokens/9")] == ["Bearer mine"]


def test_a_client_with_a_token_of_somebody_else_leaves_it_alone(server: FakeServer) -> None:
    server.on("GET /me", {"name": "ada"})
    with Client(server.url, "given") as client:
        client.whoami()
    assert [one.method for one in server.asked] == ["GET"]
