"""The page of a desktop, which the platform serves itself, and the bytes behind it: VNC over a WebSocket."""

from __future__ import annotations

import asyncio
import json
import mimetypes
import re
from pathlib import Path

from starlette.types import Receive, Scope, Send

from footplate.domain.messages import say
from footplate.engines.base import Stream
from footplate.server.proxy.refusals import refuse
from footplate.server.together import until_first
from footplate.services.openings import Opening

STATIC = Path(__file__).parent.parent / "static"
PAGE = "desktop.html"
_ASSET = re.compile(r"/(assets/[A-Za-z0-9_.-]+|favicon\.svg)")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# What browsers ask for below a desktop's address.
SETTINGS, SOCKET = "settings.json", "socket"
ENDED = 1000


def asset_of(path: str) -> str | None:
    """The file of the console that a path means; None for any other."""
    found = _ASSET.fullmatch(path)
    return found[1] if found else None


async def send_asset(scope: Scope, send: Send, name: str) -> None:
    """Answer with a file that belongs to the page."""
    headers = [(b"cache-control", b"no-cache" if name == PAGE else b"public, max-age=31536000, immutable")]
    if name == PAGE:
        headers.append((b"content-security-policy", _POLICY.encode()))
    try:
        body = await asyncio.to_thread((STATIC / name).read_bytes)
    except OSError:
        await refuse(scope, send, 404, say("console_not_built"))
        return
    await _send(send, 200, mimetypes.guess_type(name)[0] or "application/octet-stream", body, headers)


async def send_page(scope: Scope, send: Send, opening: Opening, inner: str) -> None:
    """Answer what the page of a desktop asks for, the page itself included."""
    if inner == SETTINGS:
        told = {"job": opening.job.spec.name, "task": opening.task, "password": opening.password}
        kept = [(b"cache-control", b"no-store")]
        await _send(send, 200, "application/json", json.dumps(told).encode(), kept)
    elif inner == "":
        await send_asset(scope, send, PAGE)
    else:
        await refuse(scope, send, 404, say("no_such_page"))


async def _send(send: Send, status: int, kind: str, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    own = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": [*own, *headers]})
    await send({"type": "http.response.body", "body": body})


async def relay_bytes(scope: Scope, receive: Receive, send: Send, stream: Stream) -> None:
    """Carry what a VNC client and its server say to each other."""
    await receive()
    chosen = "binary" if "binary" in scope.get("subprotocols", ()) else None
    await send({"type": "websocket.accept", "subprotocol": chosen, "headers": []})
    await until_first(_hear(receive, stream), _tell(send, stream))


async def _hear(receive: Receive, stream: Stream) -> None:
    while (message := await receive())["type"] != "websocket.disconnect":
        data = message.get("bytes")
        await stream.write(data if data is not None else (message.get("text") or "").encode())


async def _tell(send: Send, stream: Stream) -> None:
    while data := await stream.read():
        await send({"type": "websocket.send", "bytes": data})
    await send({"type": "websocket.close", "code": ENDED})
