"""One HTTP connection, with limits on size, rate and idle time."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from enum import Enum, auto
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from footplate.domain.errors import (
    FootplateError,
    HeadTooLarge,
    InvalidInput,
    Throttled,
    TooManyConnections,
    TooSlow,
)
from footplate.domain.messages import text
from footplate.server.bounds import Bounds
from footplate.server.door import Door
from footplate.server.errors import status_of
from footplate.server.websocket import CountedWebSocket
from footplate.wire.told import error_view

# A body's rate is counted over this long, so that a link may pause for a while.
RATE_OVER_S = 30.0
# Whoever is refused has this long to read why: a connection closed with input unread is reset.
READ_WHY_S = 1.0
MOST_REFUSED_AT_ONCE = 256
# Chunk headers and trailers.
MOST_BESIDE_A_BODY_BYTES = 16 * 1024
# Requests that one connection has sent ahead of the answers.
MOST_WAITING = 64
ENDS_OF_A_HEAD = (b"\n\r\n", b"\n\n")


_FAULTS_ONLY = logging.getLogger("footplate.http")
_FAULTS_ONLY.setLevel(logging.ERROR)


class Phase(Enum):
    """What a connection waits for; OVERDUE is a body that goes on after its request was answered.

    UPGRADED speaks another protocol by now.
    """

    HEAD = auto()
    BODY = auto()
    ANSWER = auto()
    OVERDUE = auto()
    IDLE = auto()
    CUT = auto()
    UPGRADED = auto()


class _Refused(Exception):
    """Stops the parser."""


class BoundedConnection(HttpToolsProtocol):
    """Speaks HTTP as uvicorn does, and cuts the connection when it goes beyond its bounds."""

    door: Door
    n_refused = 0

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # Strangers must not fill the log: what they send wrong is counted at the door.
        self.logger = _FAULTS_ONLY
        self._phase = Phase.HEAD
        self._since = self.loop.time()
        self._stalled_at: float | None = None
        self._has_sent = self._has_begun = self._bears_fruit = False
        self._held = bytearray()
        self._n_fruitless = self._n_body = 0

    @property
    def _bounds(self) -> Bounds:
        return self.door.bounds

    @property
    def _is_cut(self) -> bool:
        return self._phase is Phase.CUT

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    # What the transport tells

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        try:
            self.door.enter(self, self._address, self.loop)
        except TooManyConnections as error:
            self._refuse(error)

    def connection_lost(self, exc: Exception | None) -> None:
        self.door.leave(self, self._address)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_cut:
            return
        self._has_sent, self._bears_fruit = True, False
        if self._phase is Phase.IDLE:
            self._enter(Phase.HEAD)
        whole = self._gather(data)
        if whole:
            super().data_received(whole)
        self._n_fruitless = 0 if self._bears_fruit else self._n_fruitless + len(data)
        most = self._bounds.header_bytes if self._phase is Phase.HEAD else MOST_BESIDE_A_BODY_BYTES
        if self._n_fruitless > most and not self._is_cut:
            self._refuse(self._too_large())

    def _gather(self, data: bytes) -> bytes:
        """Hold back the pieces of a head until its end: the parser takes ever longer for each of them."""
        if self._phase is not Phase.HEAD or not self._has_begun:
            return data
        # The end may be cut in two.
        seen_from = max(0, len(self._held) - 3)
        self._held += data
        if all(self._held.find(end, seen_from) < 0 for end in ENDS_OF_A_HEAD):
            return b""
        whole, self._held = bytes(self._held), bytearray()
        return whole

    def pause_writing(self) -> None:
        self._stalled_at = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self._stalled_at = None
        super().resume_writing()

    # What the parser tells

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._has_begun = True
        self._enter(Phase.HEAD)

    def on_headers_complete(self) -> None:
        n_bytes = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if n_bytes > self._bounds.header_bytes:
            self._refuse(self._too_large())
        elif len(self.headers) > self._bounds.n_headers:
            self._refuse(
                HeadTooLarge("too_many_headers", given=len(self.headers), most=self._bounds.n_headers)
            )
        elif len(self.pipeline) >= MOST_WAITING:
            self._refuse(Throttled("too_many_unanswered", most=MOST_WAITING))
        if self._phase is Phase.CUT:
            raise _Refused
        self._enter(Phase.BODY)
        self._has_begun, self._bears_fruit = False, True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._bears_fruit = True
        self._n_body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._bears_fruit = True
        self._enter(Phase.IDLE if self.cycle is None or self.cycle.response_complete else Phase.ANSWER)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.pipeline:
            # Each of them has come as a whole; what follows can wait where it costs us nothing.
            self.flow.pause_reading()
        if self.cycle.response_complete and self._phase is Phase.BODY:
            self._enter(Phase.OVERDUE)
        elif self.cycle.response_complete and self._phase is Phase.ANSWER:
            self._enter(Phase.IDLE)

    def send_400_response(self, msg: str) -> None:
        # Also called when our own refusal has stopped the parser.
        if self._phase is not Phase.CUT:
            self._refuse(InvalidInput(text(msg), "request"), 400)

    def _should_upgrade(self) -> bool:
        # A wish that is not whole is passed over, and the request answered as if it were not there.
        return super()._should_upgrade() and _is_websocket(self.parser.get_method(), dict(self.headers))

    def handle_websocket_upgrade(self) -> None:
        self._enter(Phase.UPGRADED)
        super().handle_websocket_upgrade()
        following = self.transport.get_protocol()
        assert isinstance(following, CountedWebSocket)
        following.on_gone = partial(self.door.leave, self, self._address)

    # What the door asks

    def check(self, now: float) -> None:
        """Leave when the time is up."""
        waited_s, bounds = now - self._since, self._bounds
        if self._stalled_at is not None and now - self._stalled_at > bounds.stall_s:
            self.door.tell("took nothing of their answer", now)
            self.transport.abort()
        elif self._phase is Phase.BODY:
            self._check_rate(waited_s)
        elif self._phase is Phase.HEAD and waited_s > bounds.header_time_s:
            self._refuse(TooSlow("headers_too_slow", seconds=bounds.header_time_s))
        elif (self._phase is Phase.OVERDUE and waited_s > bounds.header_time_s) or (
            self._phase is Phase.IDLE and waited_s > bounds.idle_s
        ):
            self.give_way()

    def _check_rate(self, waited_s: float) -> None:
        if self.flow.read_paused or self.cycle.waiting_for_100_continue:
            self._enter(Phase.BODY)
            return
        over_s = min(RATE_OVER_S, self._bounds.header_time_s * 2)
        if waited_s < over_s:
            return
        if self._n_body < self._bounds.body_rate_bytes * waited_s:
            self._refuse(TooSlow("body_too_slow", rate_bytes=self._bounds.body_rate_bytes))
        else:
            self._enter(Phase.BODY)

    def waits_since(self) -> float | None:
        """Since when it has asked for nothing; None while it is being served."""
        return self._since if self._phase in (Phase.HEAD, Phase.IDLE, Phase.OVERDUE) else None

    def give_way(self) -> None:
        """Leave at once."""
        self._enter(Phase.CUT)
        self.door.leave(self, self._address)
        self.transport.abort()

    # Ending

    def _enter(self, phase: Phase) -> None:
        self._phase, self._since, self._n_body = phase, self.loop.time(), 0

    def _too_large(self) -> HeadTooLarge:
        return HeadTooLarge("headers_too_large", most_bytes=self._bounds.header_bytes)

    def _refuse(self, error: FootplateError, status: int | None = None) -> None:
        """Say why, as far as nothing else was said, and cut the connection."""
        self.door.tell(error.code.replace("_", " "), self.loop.time())
        self._enter(Phase.CUT)
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if is_answering:
            # Whoever reads the body in the server learns that there will be no more of it.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if (is_answering and self.cycle.response_started) or not self._has_sent_or_is_full(error):
            self.transport.abort()
            return
        self.transport.write(_answer(error, status or status_of(error)))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        type(self).n_refused += 1
        self.loop.call_later(READ_WHY_S, self._close)

    def _has_sent_or_is_full(self, error: FootplateError) -> bool:
        if type(self).n_refused >= MOST_REFUSED_AT_ONCE:
            return False
        # A browser opens connections that it may need: an answer without a question would confuse it.
        return self._has_sent or isinstance(error, TooManyConnections)

    def _close(self) -> None:
        type(self).n_refused -= 1
        self.transport.abort()


def _is_websocket(method: bytes, headers: Mapping[bytes, bytes]) -> bool:
    is_current = headers.get(b"sec-websocket-version") == b"13"
    return method == b"GET" and is_current and bool(headers.get(b"sec-websocket-key"))


def _answer(error: FootplateError, status: int) -> bytes:
    body = json.dumps(error_view(error)).encode()
    retry = b"retry-after: 5\r\n" if isinstance(error, TooManyConnections) else b""
    return (
        STATUS_LINE[status]
        + b"content-type: application/json\r\nconnection: close\r\n"
        + retry
        + b"content-length: %d\r\n\r\n" % len(body)
        + body
    )


def bounded(door: Door) -> type[BoundedConnection]:
    """The kind of connections that come through a door."""
    return type("Connection", (BoundedConnection,), {"door": door})
