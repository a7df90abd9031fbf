"""Carries one request to a service and its answer back, as they come."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

import httptools
from starlette.types import Receive, Scope, Send

from footplate.domain.errors import EngineUnavailable
from footplate.engines.base import Stream
from footplate.server.proxy.headers import Headers, to_browser, to_service
from footplate.server.together import until_first
from footplate.services.openings import Opening

FIRST_FINAL = 200
NO_BODY = (204, 304)


class _Answer:
    """What was parsed of an answer so far."""

    def __init__(self) -> None:
        self.headers: Headers = []
        self.has_head = self.is_whole = False
        self.body: list[bytes] = []
        self.parser = httptools.HttpResponseParser(self)

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self.parser.get_status_code() >= FIRST_FINAL:
            self.has_head = True
        else:
            self.headers = []

    def on_body(self, body: bytes) -> None:
        self.body.append(body)

    def on_message_complete(self) -> None:
        self.is_whole = self.has_head

    def take_body(self) -> bytes:
        body, self.body = b"".join(self.body), []
        return body

    def feed(self, data: bytes) -> bool:
        """Take in what came; False at the end, and where it makes no sense."""
        with contextlib.suppress(httptools.HttpParserError):
            self.parser.feed_data(data)
            return bool(data)
        return False

    @property
    def is_chunked(self) -> bool:
        return any(name.lower() == b"transfer-encoding" for name, _ in self.headers)

    def size_bytes(self) -> int | None:
        """How long the body is, where the head says so and nothing is mixed into it."""
        sizes = [value for name, value in self.headers if name.lower() == b"content-length"]
        return int(sizes[-1]) if sizes and sizes[-1].isdigit() and not self.is_chunked else None


async def relay(
    scope: Scope,
    receive: Receive,
    send: Send,
    stream: Stream,
    path: bytes,
    opening: Opening,
    until_barred: Callable[[], Coroutine[Any, Any, None]],
) -> None:
    """Ask the service, and answer with what it says, for as long as its browser may be here."""
    query = scope["query_string"]
    target = path + (b"?" + query if query else b"")
    headers = to_service(scope, opening)
    is_sized = any(name == b"content-length" for name, _ in headers)
    has_body = is_sized or any(name == b"transfer-encoding" for name, _ in scope["headers"])
    if has_body and not is_sized:
        headers.append((b"transfer-encoding", b"chunked"))
    headers.append((b"connection", b"close"))
    lines = [b"%s %s HTTP/1.1" % (scope["method"].encode(), target)]
    lines += [name + b": " + value for name, value in headers]
    await stream.write(b"\r\n".join(lines) + b"\r\n\r\n")
    hearing = _hear(receive, stream, has_body, has_body and not is_sized)
    for raised in await until_first(_answer(send, stream, scope, opening), hearing, until_barred()):
        if isinstance(raised, Exception):
            raise raised


async def _hear(receive: Receive, stream: Stream, has_body: bool, is_chunked: bool) -> None:
    """Pass on the body of a request; the end is that of the browser, who waits for no answer then."""
    while (message := await receive())["type"] == "http.request":
        if not has_body:
            continue
        body = message.get("body", b"")
        if body:
            await stream.write(b"%x\r\n%s\r\n" % (len(body), body) if is_chunked else body)
        if is_chunked and not message.get("more_body", False):
            await stream.write(b"0\r\n\r\n")


async def _answer(send: Send, stream: Stream, scope: Scope, opening: Opening) -> None:
    """Tell a browser what a service says; an answer that is cut short is left open, and so told as such."""
    answer = _Answer()
    while answer.feed(await stream.read()) and not answer.has_head:
        continue
    if not answer.has_head:
        raise EngineUnavailable("service_no_answer", service=opening.name)
    await _begin(send, answer, scope, opening)
    if scope["method"] == "HEAD" or answer.parser.get_status_code() in NO_BODY:
        is_whole = True
    elif (size_bytes := answer.size_bytes()) is not None:
        is_whole = await _pour(send, stream, answer.take_body(), size_bytes)
    else:
        is_whole = await _parse(send, stream, answer)
    if is_whole:
        await send({"type": "http.response.body", "body": b""})


async def _pour(send: Send, stream: Stream, data: bytes, left: int) -> bool:
    """Pass on a body of a known size as it comes: nothing in it needs to be understood."""
    while data or (left and (data := (await stream.read())[:left])):
        left -= len(data)
        await send({"type": "http.response.body", "body": data, "more_body": True})
        data = b""
    return not left


async def _parse(send: Send, stream: Stream, answer: _Answer) -> bool:
    """Pass on a body in chunks, or one that ends with its connection."""
    may_go_on = True
    while True:
        if answer.body:
            await send({"type": "http.response.body", "body": answer.take_body(), "more_body": True})
        if answer.is_whole or not may_go_on:
            return answer.is_whole
        if not (data := await stream.read()):
            return not answer.is_chunked
        may_go_on = answer.feed(data)


async def _begin(send: Send, answer: _Answer, scope: Scope, opening: Opening) -> None:
    host = dict(scope["headers"]).get(b"host", b"")
    headers = to_browser(answer.headers, opening, host)
    status = answer.parser.get_status_code()
    await send({"type": "http.response.start", "status": status, "headers": headers})
