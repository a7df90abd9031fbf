"""Around every request: an id, and a bound on its body."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footplate.domain.errors import TooLarge

MAX_BODY_BYTES = 1024**2
# Bodies are read before anybody is known; strangers have nothing large to say.
STRANGERS_BODY_BYTES = 64 * 1024
_NONE = re.compile("(?!)")
_SANE_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class RequestEnvelope:
    """Gives each request an id (the caller's own where it sent one) and refuses bodies that are too large.

    Paths that match `unbounded` read and bound their bodies themselves; those that end in a key of `larger`
    may have as many bytes as it says.
    """

    def __init__(
        self, app: ASGIApp, unbounded: re.Pattern[str] = _NONE, larger: Mapping[str, int] | None = None
    ) -> None:
        self._app = app
        self._unbounded = unbounded
        self._larger = larger or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given if _SANE_ID.fullmatch(given) else _fresh_id()
        scope["footplate_request_id"] = request_id.decode()

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-request-id", request_id)]
            await send(message)

        is_stranger = b"authorization" not in headers and b"cookie" not in headers
        bounded = receive
        if is_stranger or not self._unbounded.fullmatch(scope["path"]):
            bounded = _bound(receive, STRANGERS_BODY_BYTES if is_stranger else self._most(scope["path"]))
        await self._app(scope, bounded, send_with_id)

    def _most(self, path: str) -> int:
        return next((most for end, most in self._larger.items() if path.endswith(end)), MAX_BODY_BYTES)


def _fresh_id() -> bytes:
    # Not a secret: to ask the system for random bytes would let other threads in, and wait for them.
    return b"%016x" % random.getrandbits(64)


def _bound(receive: Receive, most_bytes: int) -> Receive:
    size = 0

    async def bounded() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > most_bytes:
            raise TooLarge("body_too_large", most_bytes=most_bytes)
        return message

    return bounded
