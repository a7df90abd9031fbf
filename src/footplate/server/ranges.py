"""A file over HTTP, whole or a range of it: as much as there was when the answer began, however it grows."""

from __future__ import annotations

import asyncio
import re
import stat
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from fastapi import Request
from fastapi.responses import Response, StreamingResponse

from footplate.domain.errors import FootplateError
from footplate.machine.taskfiles import unfollowed
from footplate.server.errors import answer

CHUNK_BYTES = 256 * 1024
MEDIA_TYPE = "application/octet-stream"
_RANGE = re.compile(r"bytes=([0-9]*)-([0-9]*)")
# No file is longer; larger numbers are not worth reading.
_FAR_DIGITS = 18


def send_file(request: Request, path: Path, headers: Mapping[str, str]) -> Response:
    """Answer with a file, or with the one range that was asked for; a missing file is an empty one."""
    size = _size(path)
    span = _span(request, size)
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
        _chunks(path, start, end), 206 if is_part else 200, headers=sent, media_type=MEDIA_TYPE
    )


def _span(request: Request, size: int) -> tuple[int, int] | None:
    """The range to send; None if it is empty. An unknown range header means the whole file."""
    asked = _RANGE.fullmatch(request.headers.get("range", "").strip())
    if asked is None or not (asked[1] or asked[2]) or "if-range" in request.headers:
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


def _size(path: Path) -> int:
    try:
        status = path.lstat()
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


async def _chunks(path: Path, start: int, end: int) -> AsyncIterator[bytes]:
    if start >= end:
        return
    with await asyncio.to_thread(open, path, "rb", opener=unfollowed) as file:
        file.seek(start)
        while start < end and (chunk := await asyncio.to_thread(file.read, min(CHUNK_BYTES, end - start))):
            start += len(chunk)
            yield chunk
