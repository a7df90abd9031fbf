"""What browsers are told that reach no service: a message, in their language, as plain text."""

from __future__ import annotations

from starlette.types import Scope, Send

from footplate.domain.messages import Message
from footplate.domain.messages.render import LANGUAGES, render
from footplate.server.errors import MOST_REASON_BYTES, POLICY_VIOLATION


async def refuse(scope: Scope, send: Send, status: int, said: Message) -> None:
    """Answer a request, or close a WebSocket, with the reason."""
    if scope["type"] == "websocket":
        await close(scope, send, said)
        return
    body = f"{render(said, language_of(scope))}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"content-security-policy", b"default-src 'none'"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def close(scope: Scope, send: Send, said: Message) -> None:
    """Close a WebSocket, with as much of the reason as there is room for."""
    reason = render(said, language_of(scope)).encode()[:MOST_REASON_BYTES].decode(errors="ignore")
    await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": reason})


def language_of(scope: Scope) -> str:
    """The language of ours that a browser names first."""
    wished = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1").lower()
    for one in wished.split(","):
        found: str = one.strip()[:2]
        if found in LANGUAGES:
            return found
    return LANGUAGES[0]
