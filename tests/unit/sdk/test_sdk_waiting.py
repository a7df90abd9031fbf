"""Waiting for jobs, and what calls to a server of this machine cost and survive."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from footplate.sdk.client import Client
from footplate.sdk.errors import TimedOut, Unreachable
from footplate.sdk.plainhttp import PlainCalls
from footplate.testing.fake_server import Asked, FakeServer, Reply, job

PATH = "GET /jobs/0abcdefghjk1"


def test_waiting_lets_the_server_wait(server: FakeServer, client: Client) -> None:
    server.on(PATH, job(state="RUNNING"), job(state="SUCCEEDED"))
    assert client.job("0abcdefghjk1").wait().state == "SUCCEEDED"
    (waiting,) = server.requests(PATH)[1:]
    assert float(waiting.query["wait"][0]) > 1


def test_waiting_names_the_states_that_will_do(server: FakeServer, client: Client) -> None:
    server.on(PATH, job(state="QUEUED"), job(state="RUNNING"))
    client.job("0abcdefghjk1").wait(until={"RUNNING", "STOPPING"})
    assert server.requests(PATH)[1].query["until"] == ["RUNNING", "STOPPING"]


def test_waiting_asks_again_where_a_server_answers_at_once(server: FakeServer, client: Client) -> None:
    server.on(PATH, *[job(state="RUNNING")] * 3, job(state="SUCCEEDED"))
    assert client.job("0abcdefghjk1").wait().state == "SUCCEEDED"


def test_waiting_ends_at_its_time(server: FakeServer, client: Client) -> None:
    server.on(PATH, job(state="RUNNING"))
    with pytest.raises(TimedOut, match=r"still RUNNING after 0\.1 s"):
        client.job("0abcdefghjk1").wait(timeout=0.1)
    assert all(float(one.query["wait"][0]) <= 0.1 for one in server.requests(PATH)[1:] if "wait" in one.query)


def test_who_wants_to_look_is_told_more_often(server: FakeServer, client: Client) -> None:
    server.on(PATH, job(state="RUNNING"), job(state="RUNNING"), job(state="SUCCEEDED"))
    seen: list[str] = []
    client.job("0abcdefghjk1").wait(on_poll=lambda one: seen.append(one.state))
    assert seen == ["RUNNING", "SUCCEEDED"]
    assert all(float(one.query["wait"][0]) <= 1 for one in server.requests(PATH)[1:])


def test_calls_of_many_threads_share_their_connections(server: FakeServer, client: Client) -> None:
    peers: set[str] = set()

    def answer(asked: Asked) -> Reply:
        peers.add(asked.headers["x-peer"])
        return Reply(data={"items": []})

    server.on("GET /nodes", answer)
    for _ in range(3):
        threads = [threading.Thread(target=client.nodes) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(peers) <= 4


def test_a_connection_that_was_closed_meanwhile_is_made_anew(server: FakeServer, client: Client) -> None:
    closing = Reply(data={"items": []}, headers={"Connection": "close"})
    server.on("GET /nodes", closing, Reply(data={"items": []}))
    assert client.nodes() == client.nodes() == []


@contextmanager
def _silent() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_server_that_says_nothing_is_given_up() -> None:
    with _silent() as port:
        calls = PlainCalls(f"http://127.0.0.1:{port}/api/v1", 0.05)
        with pytest.raises(httpx.ReadTimeout):
            calls.request("GET", "/nodes", headers={}, params={})


def test_a_server_that_is_not_there_cannot_be_reached() -> None:
    with _silent() as port:
        pass
    with Client(f"http://127.0.0.1:{port}", "secret") as client, pytest.raises(Unreachable):
        client.nodes()


def test_a_token_that_no_header_can_hold_breaks_no_more_than_the_call(server: FakeServer) -> None:
    server.on("GET /nodes", Reply(data={"items": []}))
    with Client(server.url, "a\nb") as client, pytest.raises(Unreachable):
        client.nodes()


def test_flags_and_lists_are_sent_as_the_api_reads_them(server: FakeServer) -> None:
    server.on("GET /nodes", Reply(data={"items": []}))
    calls = PlainCalls(f"{server.url}/api/v1", 5)
    calls.request("GET", "/nodes", headers={}, params={"a": True, "b": ["x", "ÿ &"], "c": 0.5})
    calls.close()
    assert server.requests("GET /nodes")[0].query == {"a": ["true"], "b": ["x", "ÿ &"], "c": ["0.5"]}


def results(is_complete: bool) -> dict[str, object]:
    return {"storage": "home", "path": "outputs/0abcdefghjk1", "is_complete": is_complete}


def test_whoever_wants_results_waits_until_they_are_saved(server: FakeServer, client: Client) -> None:
    over = [job(state="SUCCEEDED", results=results(done)) for done in (False, False, True)]
    server.on(PATH, job(state="RUNNING"), *over)
    assert not client.job("0abcdefghjk1").wait(results=True).saves_results
    assert len(server.requests(PATH)) == 4
    server.on(PATH, over[0])
    assert client.job("0abcdefghjk1").wait().saves_results
    with pytest.raises(TimedOut):
        client.job("0abcdefghjk1").wait(timeout=0.1, results=True)
