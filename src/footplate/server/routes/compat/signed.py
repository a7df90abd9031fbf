"""What the routes of other clouds share: the request as it was sent, and who signed it."""

from __future__ import annotations

from fastapi import Request

from footplate.domain.errors import TooLarge
from footplate.server.foreign import SCOPE_KEY, Foreign


def foreign_of(request: Request) -> Foreign:
    found: Foreign = request.scope[SCOPE_KEY]
    return found


def headers_of(request: Request) -> dict[str, str]:
    """The headers as they were sent; their names are in small letters."""
    return {**dict(request.headers), "host": foreign_of(request).host}


def request_id(request: Request) -> str:
    return str(request.scope.get("footplate_request_id", ""))


async def body_of(request: Request, most_bytes: int) -> bytes:
    """Read a body that is not large."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most_bytes:
            raise TooLarge("body_too_large", most_bytes=most_bytes)
    return bytes(body)


def announced(request: Request) -> int:
    given = request.headers.get("content-length", "")
    return int(given) if given.isdecimal() and len(given) < 18 else 0
