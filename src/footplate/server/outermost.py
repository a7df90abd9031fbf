"""The outermost layer of the app: whatever happens inside, a caller gets an answer of ours."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footplate.domain.errors import FootplateError, Starting
from footplate.server.errors import status_of
from footplate.wire.told import error_view

log = logging.getLogger(__name__)

# By the numbers of the WebSocket protocol.
TRY_AGAIN_LATER = 1013


class Outermost:
    """Answers for an app that is not ready, that is being stopped, or that broke without an answer."""

    def __init__(
        self, app: ASGIApp, refusal: Callable[[], FootplateError | None], prefixes: str | tuple[str, ...]
    ) -> None:
        self._app = app
        self._refusal = refusal
        self._prefixes = prefixes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal() if scope["path"].startswith(self._prefixes) else None
        if refusal is None:
            await self._guarded(scope, receive, send)
        elif scope["type"] == "http":
            await _answer(send, refusal)
        else:
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER, "reason": refusal.code})

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        has_begun = has_ended = False

        async def watched(message: Message) -> None:
            nonlocal has_begun, has_ended
            has_begun = True
            await send(message)
            has_ended = message["type"] == "http.response.body" and not message.get("more_body", False)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if not has_begun:
                await _answer(send, Starting("server_stops"))
            raise
        except Exception:
            # What was answered in full has been logged as well.
            if has_ended:
                return
            if has_begun:
                raise
            log.exception("%s %s failed before anything was answered", scope["method"], scope["path"])
            await _answer(send, FootplateError("internal_error"))


async def _answer(send: Send, error: FootplateError) -> None:
    body = json.dumps(error_view(error)).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", b"1"),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status_of(error), "headers": headers})
    await send({"type": "http.response.body", "body": body})
