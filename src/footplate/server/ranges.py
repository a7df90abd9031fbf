"""A log over HTTP, whole or a range of it: as much as there was when the answer began, however it grows."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping

from fastapi import Request
from fastapi.responses import Response, StreamingResponse

from footplate.domain.errors import FootplateError
from footplate.server.errors import answer
from footplate.store.logfiles import LogFile

CHUNK_BYTES = 256 * 1024
MEDIA_TYPE = "application/octet-stream"
_RANGE = re.compile(r"bytes=([0-9]*)-([0-9]*)")
# No file is longer; larger numbers are not worth reading.
_FAR_DIGITS = 18


def send_log(request: Request, log: LogFile, headers: Mapping[str, str]) -> Response:
    """Answer with a log, or with the one range that was asked for; a missing one is empty."""
    size = log.size
    span = (0, size) if "if-range" in request.headers else span_of(request.headers.get("range", ""), size)
    if span is None:
        refusal = answer(request, 416, FootplateError("range_empty", size=size), "invalid_input")
        refusal.headers["Content-Range"] = f"bytes */{size}"
        return refusal
    start, end = span
    sent = {**headers, "Accept-Ranges": "bytes", "Content-Length": str(end - start)}
    is_part = end - start < size
    if is_part:
        sent["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return StreamingResponse(
        _chunks(log, start, end), 206 if is_part else 200, headers=sent, media_type=MEDIA_TYPE
    )


def span_of(header: str, size: int) -> tuple[int, int] | None:
    """The range to send; None if it is empty. An unknown range header means the whole file."""
    asked = _RANGE.fullmatch(header.strip())
    if asked is None or not (asked[1] or asked[2]):
        return 0, size
    if not asked[1]:
        start, end = max(0, size - _number(asked[2])), size
    else:
        start, end = _number(asked[1]), min(size, _number(asked[2]) + 1 if asked[2] else size)
        if asked[2] and _number(asked[2]) < start:
            return 0, size
    return (start, end) if start < end else None


def _number(digits: str) -> int:
    return int(digits) if len(digits) <= _FAR_DIGITS else 10**_FAR_DIGITS


async def _chunks(log: LogFile, start: int, end: int) -> AsyncIterator[bytes]:
    while start < end and (
        chunk := await asyncio.to_thread(log.read_bytes, start, min(CHUNK_BYTES, end - start))
    ):
        start += len(chunk)
        yield chunk
