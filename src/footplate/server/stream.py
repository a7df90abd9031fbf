"""Server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi.responses import StreamingResponse

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
PING = b": ping\n\n"


def message(kind: str, data: Any, cursor: str = "") -> bytes:
    lines = [f"event: {kind}"]
    if cursor:
        lines.append(f"id: {cursor}")
    # JSON has no line breaks of its own, so one data line is enough.
    lines.append(f"data: {json.dumps(data, ensure_ascii=False)}")
    return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")


def stream(chunks: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(chunks, media_type="text/event-stream", headers=HEADERS)
