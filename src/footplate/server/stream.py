"""Server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi.responses import StreamingResponse

from footplate.services.logfollower import PING_S

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
PING = b": ping\n\n"


def message(kind: str, data: Any, cursor: str = "") -> bytes:
    lines = [f"event: {kind}"]
    if cursor:
        lines.append(f"id: {cursor}")
    # JSON has no line breaks of its own, so one data line is enough.
    lines.append(f"data: {json.dumps(data, ensure_ascii=False)}")
    return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")


async def woken(wake: asyncio.Event) -> bool:
    """Wait for news; False after a quiet while."""
    try:
        await asyncio.wait_for(wake.wait(), PING_S)
    except TimeoutError:
        return False
    return True


def stream(chunks: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(chunks, media_type="text/event-stream", headers=HEADERS)
