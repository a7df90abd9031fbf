"""Carries one request to a service and its answer back, as they come."""

from __future__ import annotations

import asyncio

import httptools
from starlette.types import Receive, Scope, Send

from footplate.domain.errors import EngineUnavailable
from footplate.engines.base import Stream
from footplate.server.proxy.headers import Headers, to_browser, to_service
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


async def relay(
    scope: Scope, receive: Receive, send: Send, stream: Stream, path: bytes, opening: Opening
) -> None:
    """Ask the service, and answer with what it says."""
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
    sending = asyncio.create_task(_send_body(receive, stream, not is_sized)) if has_body else None
    try:
        await _answer(send, stream, scope["method"], opening)
    finally:
        if sending is not None:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)


async def _send_body(receive: Receive, stream: Stream, is_chunked: bool) -> None:
    while True:
        message = await receive()
        if message["type"] != "http.request":
            await stream.end_input()
            return
        body = message.get("body", b"")
        if body:
            await stream.write(b"%x\r\n%s\r\n" % (len(body), body) if is_chunked else body)
        if not message.get("more_body", False):
            if is_chunked:
                await stream.write(b"0\r\n\r\n")
            return


async def _answer(send: Send, stream: Stream, method: str, opening: Opening) -> None:
    answer, has_begun = _Answer(), False
    while data := await stream.read():
        try:
            answer.parser.feed_data(data)
        except httptools.HttpParserError:
            break
        if answer.has_head and not has_begun:
            has_begun = True
            await _begin(send, answer, opening)
            if method == "HEAD" or answer.parser.get_status_code() in NO_BODY:
                answer.is_whole = True
        if has_begun and answer.body:
            await send({"type": "http.response.body", "body": answer.take_body(), "more_body": True})
        if answer.is_whole:
            break
    if not has_begun:
        raise EngineUnavailable("service_no_answer", service=opening.name)
    await send({"type": "http.response.body", "body": b""})


async def _begin(send: Send, answer: _Answer, opening: Opening) -> None:
    headers = to_browser(answer.headers, opening)
    status = answer.parser.get_status_code()
    await send({"type": "http.response.start", "status": status, "headers": headers})
