"""What a stranger's connection may cost: bytes, headers, time and places, before anybody is known."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace

import httpx
import pytest
from apiclient import NODE

from footplate.server.bounds import Bounds
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import DEADLINE_S, Served, served, until

BOUNDS = Bounds(
    header_bytes=16 * 1024,
    n_headers=40,
    header_time_s=1.0,
    body_rate_bytes=1024,
    idle_s=1.0,
    stall_s=2.0,
    n_per_address=12,
    n_connections=100,
)
Answer = tuple[int, dict[str, object]]


@pytest.fixture(scope="module")
def bounded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    clock = FakeClock()
    home = tmp_path_factory.mktemp("home")
    with served(home, FakeEngine(clock, [NODE]), clock, connections=BOUNDS) as running:
        yield running


@contextmanager
def connect(server: Served) -> Iterator[socket.socket]:
    host, port = httpx.URL(server.url).host, httpx.URL(server.url).port
    assert port is not None
    with closing(socket.create_connection((host, port), timeout=DEADLINE_S)) as line:
        yield line


def read_all(line: socket.socket) -> bytes:
    """All that comes until the other side ends the connection, in whichever way."""
    parts = []
    with suppress(ConnectionResetError):
        while part := line.recv(65536):
            parts.append(part)
    return b"".join(parts)


def answer_of(line: socket.socket) -> Answer:
    head, _, body = read_all(line).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def send_for_ever(line: socket.socket, piece: bytes, most_bytes: int = 64 * 1024**2) -> None:
    """Send until the other side wants no more."""
    with suppress(OSError):
        for _ in range(most_bytes // len(piece)):
            line.sendall(piece)


def is_healthy(server: Served) -> bool:
    return httpx.get(f"{server.url}/api/v1/health", timeout=2.0).status_code == 200


START = b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (START + b"X-Long: ", b"a" * 8192),
        (START, b"X-Many: 1\r\n" * 500),
        (b"GET /", b"a" * 8192),
        (b"", b"\r\n" * 4096),
        (START + b"Transfer-Encoding: chunked\r\n\r\n", b"0\r\n" + b"X-Trailer: 1\r\n" * 500),
        (START + b"Transfer-Encoding: chunked\r\n\r\n5;", b"a" * 8192),
    ],
    ids=["one header", "many headers", "url", "empty lines", "trailers", "chunk extension"],
)
def test_headers_without_end_are_refused_and_nobody_else_waits(
    bounded: Served, begin: bytes, piece: bytes
) -> None:
    with connect(bounded) as line:
        line.sendall(begin)
        send_for_ever(line, piece)
        assert is_healthy(bounded)
        # Who goes on sending may be reset before it reads why.
        with suppress(OSError):
            read_all(line)


def test_a_header_that_is_too_large_is_answered_with_431(bounded: Served) -> None:
    with connect(bounded) as line:
        line.sendall(START + b"X-Long: " + b"a" * 17_000 + b"\r\n\r\n")
        status, body = answer_of(line)
    assert (status, body["code"]) == (431, "headers_too_large")
    assert "16KB" in str(body["message"]) or "16KiB" in str(body["message"])


def test_too_many_headers_are_answered_with_431(bounded: Served) -> None:
    with connect(bounded) as line:
        line.sendall(START + b"".join(b"X-%d: 1\r\n" % n for n in range(60)) + b"\r\n")
        status, body = answer_of(line)
    assert (status, body["code"]) == (431, "headers_too_large")
    assert "61 headers" in str(body["message"])


def test_what_is_not_http_is_answered_in_our_own_words(bounded: Served) -> None:
    with connect(bounded) as line:
        line.sendall(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
        status, body = answer_of(line)
    assert (status, body["code"]) == (400, "invalid_input")


def test_a_head_in_many_pieces_is_read_as_one(bounded: Served) -> None:
    with connect(bounded) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in START + b"X-Cut: in pieces\r\nConnection: close\r\n\r\n":
            line.sendall(bytes([byte]))
        assert read_all(line).startswith(b"HTTP/1.1 200")


def test_requests_that_come_together_are_answered_one_after_the_other(bounded: Served) -> None:
    last = START + b"Connection: close\r\n\r\n"
    with connect(bounded) as line:
        line.sendall(START + b"\r\n" + START + b"\r\n" + last[:20])
        line.sendall(last[20:])
        assert read_all(line).count(b"HTTP/1.1 200") == 3


def test_requests_without_end_ahead_of_their_answers_are_refused(bounded: Served) -> None:
    """They are kept until it is their turn: a connection could take all memory."""
    with connect(bounded) as line:
        sender = threading.Thread(target=send_for_ever, args=(line, (START + b"\r\n") * 1000), daemon=True)
        sender.start()
        *_, last = read_all(line).split(b"HTTP/1.1 ")
        assert last.startswith(b"429 ")
        assert b"too_many_unanswered" in last
        sender.join(DEADLINE_S)


def test_a_wish_to_speak_another_protocol_is_passed_over(bounded: Served) -> None:
    wish = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\r\n"
    with connect(bounded) as line:
        line.sendall(START + wish)
        assert line.recv(4096).startswith(b"HTTP/1.1 200")
    assert is_healthy(bounded)


def test_headers_that_come_too_slowly_are_answered_with_408(bounded: Served) -> None:
    with connect(bounded) as line:
        line.sendall(START)
        status, body = answer_of(line)
    assert (status, body["code"]) == (408, "too_slow")


@pytest.mark.alone
def test_a_byte_now_and_then_buys_no_time_for_headers(bounded: Served) -> None:
    with connect(bounded) as line:
        line.sendall(START + b"X-Slow: ")
        began = time.monotonic()
        line.settimeout(0.2)
        said = b""
        while time.monotonic() - began < DEADLINE_S and not said:
            try:
                line.sendall(b"a")
                said = line.recv(4096)
            except TimeoutError:
                continue
        assert b" 408 " in said


def test_a_connection_that_says_nothing_is_closed_without_a_word(bounded: Served) -> None:
    with connect(bounded) as line:
        assert read_all(line) == b""


def test_a_connection_that_asks_no_more_is_closed(bounded: Served) -> None:
    with connect(bounded) as line:
        line.sendall(START + b"\r\n")
        assert read_all(line).startswith(b"HTTP/1.1 200")


def test_empty_lines_after_an_answer_keep_no_connection_open(bounded: Served) -> None:
    with connect(bounded) as line:
        line.sendall(START + b"\r\n")
        assert line.recv(4096).startswith(b"HTTP/1.1 200")
        line.sendall(b"\r\n")
        assert b" 408 " in read_all(line)


LOGIN = (
    b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\n"
    b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
)


def test_a_body_that_comes_too_slowly_is_answered_with_408(bounded: Served) -> None:
    with connect(bounded) as line:
        line.sendall(LOGIN + b"{")
        status, body = answer_of(line)
    assert (status, body["code"]) == (408, "too_slow")
    assert "per second" in str(body["message"])


def test_a_body_that_comes_slowly_but_fast_enough_is_read(bounded: Served) -> None:
    text = b'{"user": "admin", "password": "wrong"' + b" " * 12_000 + b"}"
    with connect(bounded) as line:
        line.sendall(LOGIN.replace(b"1000", str(len(text)).encode()))
        # About 3 KB a second, for longer than headers and rates may take.
        for at in range(0, len(text), 1000):
            line.sendall(text[at : at + 1000])
            threading.Event().wait(0.3)
        status, body = answer_of(line)
    assert (status, body["code"]) == (401, "unauthenticated")


@pytest.mark.alone
def test_a_body_that_goes_on_after_its_refusal_is_cut(bounded: Served) -> None:
    with connect(bounded) as line:
        line.sendall(LOGIN.replace(b"1000", b"100000000") + b"x" * 70_000)
        assert b" 413 " in line.recv(4096)
        began = time.monotonic()
        with suppress(OSError):
            while time.monotonic() - began < DEADLINE_S:
                line.sendall(b"x" * 4096)
                threading.Event().wait(0.05)
        assert time.monotonic() - began < DEADLINE_S


def test_a_stranger_may_send_less_than_somebody_who_shows_a_token(bounded: Served) -> None:
    large = {"user": "x", "password": "y" * 100_000}
    with bounded.client() as stranger, bounded.client(bounded.sign_in()) as admin:
        refused = stranger.post("/login", json=large)
        assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
        assert "64KB" in refused.json()["message"], refused.json()
        assert admin.post("/login", json=large).status_code == 422


@pytest.mark.alone
def test_a_stream_may_last_and_its_follower_need_not_speak(bounded: Served) -> None:
    token = bounded.sign_in()
    with (
        bounded.client(token) as client,
        client.stream("GET", "/events/stream", timeout=DEADLINE_S) as answer,
    ):
        assert answer.status_code == 200
        received = answer.iter_raw()
        began = time.monotonic()
        while time.monotonic() - began < 3 * BOUNDS.header_time_s:
            threading.Event().wait(0.2)
        job = client.post("/jobs", json={"name": "told", "command": "wait"})
        assert job.status_code == 201
        assert any(b"told" in part or job.json()["id"].encode() in part for part in received)
        client.delete(f"/jobs/{job.json()['id']}")


def test_connections_that_are_only_held_open_keep_nobody_out(bounded: Served) -> None:
    lines = [socket.create_connection(("127.0.0.1", httpx.URL(bounded.url).port)) for _ in range(30)]
    try:
        assert is_healthy(bounded)
    finally:
        for line in lines:
            line.close()


def test_too_many_connections_that_are_served_are_answered_with_503(bounded: Served) -> None:
    token = bounded.sign_in()
    ask = (
        b"GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
        + token.encode()
        + b"\r\n\r\n"
    )
    lines = []
    try:
        for _ in range(BOUNDS.n_per_address):
            lines.append(socket.create_connection(("127.0.0.1", httpx.URL(bounded.url).port), DEADLINE_S))
            lines[-1].sendall(ask)
            assert b" 200 " in lines[-1].recv(4096)
        with connect(bounded) as line:
            line.sendall(START + b"\r\n")
            status, body = answer_of(line)
        assert (status, body["code"]) == (503, "too_many_connections")
        assert "12 connections from 127.0.0.1" in str(body["message"])
    finally:
        for line in lines:
            line.close()
    until(lambda: _answers(lambda: is_healthy(bounded)))


def _answers(ask: Callable[[], bool]) -> bool:
    try:
        return ask()
    except httpx.TransportError:
        return False


def test_a_trusted_proxy_may_have_more_connections_than_others(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    clock = FakeClock()
    bounds = replace(BOUNDS, n_per_address=2)
    home = tmp_path_factory.mktemp("home")
    with served(
        home, FakeEngine(clock, [NODE]), clock, connections=bounds, trusted_proxies=("127.0.0.0/8",)
    ) as server:
        token = server.sign_in()
        with server.client(token) as client:
            streams = [client.stream("GET", "/events/stream") for _ in range(5)]
            for stream in streams:
                assert stream.__enter__().status_code == 200
            for stream in streams:
                stream.__exit__(None, None, None)
