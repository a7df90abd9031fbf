"""Carries a WebSocket to a service: messages both ways, to the end of either side."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.types import Receive, Scope, Send
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.uri import WebSocketURI

from footplate.engines.base import Stream
from footplate.server.proxy.headers import to_service
from footplate.server.together import until_first
from footplate.services.openings import Opening

GOING_AWAY = 1001
NOT_THERE = 1014
MOST_BYTES = 64 * 1024**2
# Written by the handshake itself.
OWN = (
    b"host",
    b"origin",
    b"sec-websocket-key",
    b"sec-websocket-version",
    b"sec-websocket-extensions",
    b"sec-websocket-protocol",
)


async def relay_websocket(
    scope: Scope, receive: Receive, send: Send, stream: Stream, path: bytes, opening: Opening
) -> None:
    """Open the same WebSocket at the service, and carry messages."""
    line = _Line(stream, scope, path, opening)
    await receive()
    response = await line.open(scope, opening)
    if response is None:
        await send({"type": "websocket.close", "code": NOT_THERE, "reason": "the service refused"})
        return
    chosen = response.headers.get("Sec-WebSocket-Protocol")
    await send({"type": "websocket.accept", "subprotocol": chosen, "headers": []})
    await until_first(_hear(receive, line), _tell(send, line))


class _Line:
    """The service's side of a WebSocket."""

    def __init__(self, stream: Stream, scope: Scope, path: bytes, opening: Opening) -> None:
        self._stream = stream
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"localhost").decode("latin-1")
        query = scope["query_string"].decode("latin-1")
        uri = WebSocketURI(False, host, opening.port, path.decode("latin-1"), query)
        subprotocols = scope.get("subprotocols") or None
        self._protocol = ClientProtocol(uri, subprotocols=subprotocols, max_size=MOST_BYTES)
        self._parts: list[bytes] = []
        self._kind = Opcode.BINARY

    async def open(self, scope: Scope, opening: Opening) -> Response | None:
        request = self._protocol.connect()
        given = dict(scope["headers"])
        del request.headers["Host"]
        request.headers["Host"] = given.get(b"host", b"localhost").decode("latin-1")
        if b"origin" in given:
            request.headers["Origin"] = given[b"origin"].decode("latin-1")
        for name, value in to_service(scope, opening):
            if name not in OWN:
                request.headers[name.decode()] = value.decode("latin-1")
        self._protocol.send_request(request)
        await self.flush()
        while data := await self._stream.read():
            self._protocol.receive_data(data)
            if isinstance(self._protocol.handshake_exc, InvalidHandshake):
                return None
            for event in self._protocol.events_received():
                if isinstance(event, Response):
                    return event if self._protocol.handshake_exc is None else None
        return None

    async def flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                await self._stream.write(data)
            else:
                await self._stream.end_input()

    async def send(self, text: str | None, data: bytes | None) -> None:
        if text is not None:
            self._protocol.send_text(text.encode())
        else:
            self._protocol.send_binary(data or b"")
        await self.flush()

    async def close(self, code: int) -> None:
        self._protocol.send_close(code)
        await self.flush()

    @property
    def close_code(self) -> int:
        return self._protocol.close_code or GOING_AWAY

    async def messages(self) -> AsyncIterator[tuple[Opcode, bytes]]:
        while True:
            for event in self._protocol.events_received():
                if isinstance(event, Frame) and (message := self._whole(event)):
                    yield message
            data = await self._stream.read()
            if not data:
                return
            self._protocol.receive_data(data)
            await self.flush()

    def _whole(self, frame: Frame) -> tuple[Opcode, bytes] | None:
        """Join the frames of a message; None while it is not whole, and for frames that are none."""
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return None
        if frame.opcode is not Opcode.CONT:
            self._kind, self._parts = frame.opcode, []
        self._parts.append(bytes(frame.data))
        return (self._kind, b"".join(self._parts)) if frame.fin else None


async def _hear(receive: Receive, line: _Line) -> None:
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            code = message.get("code") or GOING_AWAY
            await line.close(code if 1000 <= code < 5000 and code not in (1004, 1005, 1006) else GOING_AWAY)
            return
        await line.send(message.get("text"), message.get("bytes"))


async def _tell(send: Send, line: _Line) -> None:
    async for kind, data in line.messages():
        if kind is Opcode.TEXT:
            await send({"type": "websocket.send", "text": data.decode(errors="replace")})
        else:
            await send({"type": "websocket.send", "bytes": data})
    code = line.close_code
    await send({"type": "websocket.close", "code": code if code not in (1005, 1006) else GOING_AWAY})
