"""WebSockets: callers are known as in requests, refusals are told as in requests, bounds hold."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from apiclient import NODE
from fastapi import APIRouter, WebSocket
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from footplate.domain.errors import Conflict
from footplate.server.auth import Signed, Wired
from footplate.server.bounds import Bounds
from footplate.server.websocket import MOST_BYTES
from footplate.testing.fake_clock import FakeClock
from footplate.testing.fake_engine import FakeEngine
from footplate.testing.server import Served, served, until

BOUNDS = Bounds(header_time_s=0.2, idle_s=0.2, n_per_address=3)
router = APIRouter(prefix="/api/v1/echo")


@router.websocket("")
async def echo(websocket: WebSocket, caller: Signed, parts: Wired) -> None:
    await websocket.accept()
    async for text in websocket.iter_text():
        if text == "fail":
            raise Conflict("this cannot be")
        await websocket.send_text(f"{caller.name}: {text} ({parts.settings.home.name})")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home: Path = tmp_path_factory.mktemp("home")
    clock = FakeClock()
    with served(home, FakeEngine(clock, [NODE]), clock, connections=BOUNDS) as one:
        one.app.include_router(router)
        yield one


def opened(server: Served, path: str = "/api/v1/echo", **headers: str) -> ClientConnection:
    url = server.url.replace("http", "ws", 1) + path
    return connect(url, additional_headers=headers, open_timeout=10, close_timeout=10)


def bearer(server: Served) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.sign_in()}"}


def test_a_caller_is_known_by_the_token_of_the_handshake(server: Served) -> None:
    with opened(server, **bearer(server)) as line:
        line.send("hello")
        assert line.recv(10) == f"admin: hello ({server.home.name})"


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer nobody"}])
def test_a_stranger_is_refused_with_the_body_of_any_refusal(server: Served, headers: dict[str, str]) -> None:
    with pytest.raises(InvalidStatus) as refused, opened(server, **headers):
        pytest.fail("a stranger got in")
    answer = refused.value.response
    assert answer.status_code == 401
    assert json.loads(answer.body)["code"] == "unauthenticated"


def test_a_browser_comes_in_with_cookie_and_ticket_and_not_with_the_cookie_alone(
    server: Served,
) -> None:
    sessions, token, path = server.parts.sessions, server.sign_in(), "/api/v1/echo"
    cookie = {"Cookie": f"{sessions.cookie}={token}"}
    ticket = sessions.ticket_for(token, path, server.clock.now())
    with opened(server, f"{path}?ticket={ticket}", **cookie) as line:
        line.send("hi")
        assert line.recv(10).startswith("admin: hi")
    for wrong in ("", f"?ticket={ticket}0", f"?ticket={sessions.ticket_for(token, '/', 0)}"):
        with pytest.raises(InvalidStatus), opened(server, path + wrong, **cookie):
            pytest.fail("a cookie alone let somebody in")


def test_an_error_in_an_open_connection_closes_it_and_says_why(server: Served) -> None:
    with opened(server, **bearer(server)) as line:
        line.send("fail")
        with pytest.raises(ConnectionClosed) as closed:
            line.recv(10)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "this cannot be")


def test_a_path_that_speaks_no_websocket_refuses_one(server: Served) -> None:
    with pytest.raises(InvalidStatus) as refused, opened(server, "/api/v1/jobs", **bearer(server)):
        pytest.fail("jobs do not speak")
    assert refused.value.response.status_code in (403, 404)


def test_a_message_that_is_too_large_ends_the_connection(server: Served) -> None:
    with opened(server, **bearer(server)) as line:
        line.send("x" * (MOST_BYTES + 1))
        with pytest.raises(ConnectionClosed) as closed:
            line.recv(10)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


def test_an_open_websocket_outlives_the_time_of_idle_requests(server: Served) -> None:
    url = urlsplit(server.url)
    address = (str(url.hostname), url.port or 0)
    with opened(server, **bearer(server)) as line, socket.create_connection(address) as idle:
        idle.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: here\r\n\r\n")
        idle.settimeout(10)
        while idle.recv(4096):
            pass
        line.send("still here")
        assert "still here" in line.recv(10)


def test_open_websockets_count_until_they_are_gone(server: Served) -> None:
    header = bearer(server)

    def answers() -> bool:
        try:
            with opened(server, **header) as line:
                line.send("x")
                return bool(line.recv(10))
        except (InvalidStatus, ConnectionClosed, OSError, EOFError, AssertionError):
            # The last is the library's own, when it is cut in the very moment of a send.
            return False

    with ExitStack() as stack:
        for _ in range(BOUNDS.n_per_address):
            stack.enter_context(opened(server, **header))
        assert not answers()
    assert until(answers)
