"""Reading a job document from a request: JSON or YAML, by content type."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import Request

from footplate.domain.errors import InvalidInput
from footplate.domain.problems import shorten
from footplate.wire.documents import load, load_json

_SMALL_BYTES = 16 * 1024
_JSON = "application/json"
# What programs send for a file of whatever kind counts as YAML, of which JSON is a part.
_YAML = frozenset(
    {
        "",
        "application/octet-stream",
        "application/x-www-form-urlencoded",
        "application/x-yaml",
        "application/yaml",
        "text/plain",
        "text/x-yaml",
        "text/yaml",
    }
)


async def read_document(request: Request) -> Any:
    """Read the body: small JSON at once, all else in a thread, where bad input cannot hold others up."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON and kind not in _YAML:
        raise InvalidInput("not_media_type", "Content-Type", wanted=_JSON, given=shorten(kind))
    body = await request.body()
    read = load_json if kind == _JSON else load
    if read is load_json and len(body) <= _SMALL_BYTES:
        return load_json(body, "body")
    return await asyncio.to_thread(read, body, "body")
