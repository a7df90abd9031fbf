"""Reading a job document from a request: JSON or YAML, by content type."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from fastapi import Request

from footplate.domain.errors import InvalidInput
from footplate.wire.documents import load

_SMALL_BYTES = 16 * 1024


async def read_document(request: Request) -> Any:
    """Read the body; small JSON at once, the rest in a thread, where bad input cannot hold others up."""
    body = await request.body()
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind in ("application/json", "") and len(body) <= _SMALL_BYTES:
        return _read_json(body)
    return await asyncio.to_thread(load, body, "body")


def _read_json(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the body is not valid JSON: {error}") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number that JSON knows")
