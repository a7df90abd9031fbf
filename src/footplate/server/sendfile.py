"""A file of a storage over HTTP, whole or a range of it: as much as there was when the answer began."""

from __future__ import annotations

from collections.abc import AsyncIterator
from email.utils import formatdate
from functools import partial
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import Response, StreamingResponse

from footplate.domain.errors import FootplateError
from footplate.server.errors import answer
from footplate.server.ranges import span_of
from footplate.services.fileaccess import told
from footplate.services.filing import Opened
from footplate.services.previews import image_type
from footplate.storages.base import Files, Source

CHUNK_BYTES = 1024**2
MEDIA_TYPE = "application/octet-stream"
# Whatever somebody has uploaded: a browser must not run it as a page of ours.
_GUARD = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'"}


async def send_file(request: Request, opened: Opened, source: Source, inline: bool) -> Response:
    """Answer with an open file, or with the one range that was asked for; it is closed at the end."""
    entry = source.entry
    size, tag = entry.size_bytes, f'"{entry.tag}"'
    if request.headers.get("if-none-match") == tag:
        await _close(opened, source)
        return Response(status_code=304, headers={"ETag": tag})
    # A file that has changed since the first part came is sent whole.
    is_other = request.headers.get("if-range") not in (None, tag)
    span = (0, size) if is_other else span_of(request.headers.get("range", ""), size)
    if span is None:
        await _close(opened, source)
        refusal = answer(request, 416, FootplateError("range_empty", size=size), "invalid_input")
        refusal.headers["Content-Range"] = f"bytes */{size}"
        return refusal
    start, end = span
    media_type = await _image_type(opened, source) if inline else ""
    how = "inline" if media_type else "attachment"
    headers = {
        **_GUARD,
        "Content-Disposition": f"{how}; filename*=UTF-8''{quote(entry.name, safe='')}",
        "Accept-Ranges": "bytes",
        "Content-Length": str(end - start),
        "ETag": tag,
        **({"Last-Modified": formatdate(entry.modified_at, usegmt=True)} if entry.modified_at else {}),
    }
    is_part = end - start < size
    if is_part:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    if request.method == "HEAD":
        await _close(opened, source)
        return Response(None, 206 if is_part else 200, headers, media_type or MEDIA_TYPE)
    chunks = _chunks(opened, source, start, end)
    return StreamingResponse(chunks, 206 if is_part else 200, headers, media_type or MEDIA_TYPE)


async def _close(opened: Opened, source: Source) -> None:
    await opened.run(lambda _files: source.close())


async def _image_type(opened: Opened, source: Source) -> str:
    with told(opened.storage.name, source.entry.path):
        return image_type(await opened.run(lambda _files: source.read(0, 16)))


async def _chunks(opened: Opened, source: Source, start: int, end: int) -> AsyncIterator[bytes]:
    try:
        while start < end:
            chunk = await opened.run(partial(_read, source, start, min(CHUNK_BYTES, end - start)))
            if not chunk:
                # Cut short meanwhile: the connection breaks, so that nobody takes a part for the whole.
                raise ConnectionAbortedError(f"{source.entry.path} was cut short while it was sent")
            start += len(chunk)
            yield chunk
    finally:
        await _close(opened, source)


def _read(source: Source, start: int, n_bytes: int, _files: Files) -> bytes:
    return source.read(start, n_bytes)
