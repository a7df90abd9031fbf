"""Looks at the beginning of a file: as text, table or curves, or which kind of image it is."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from footplate.domain.eventfile import is_event_file
from footplate.domain.storage import Access
from footplate.services.access import Caller
from footplate.services.curves import Curve, curves_of
from footplate.services.fileaccess import open_for, told
from footplate.services.platform import Platform
from footplate.storages.base import Entry, Files
from footplate.storages.paths import clean

MOST_BYTES = 256 * 1024
MOST_EVENT_BYTES = 16 * 1024**2
MOST_ROWS, MOST_COLUMNS, MOST_CELL = 200, 100, 1000
TABLES = (".csv", ".tsv")
# By how they begin, not by how they are called: what a browser is told to draw must be what it says.
IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


@dataclass(frozen=True, slots=True)
class Preview:
    """What can be shown of a file; `is_cut` says that there is more of it."""

    entry: Entry
    kind: str
    media_type: str = "application/octet-stream"
    text: str | None = None
    rows: Sequence[Sequence[str]] | None = None
    curves: Sequence[Curve] | None = None
    is_cut: bool = False


async def preview(platform: Platform, caller: Caller, storage: str, path: str) -> Preview:
    """Show the beginning of a file."""
    opened, cleaned = await open_for(platform, caller, storage, Access.READ), clean(path)
    with told(storage, cleaned):
        entry, data = await opened.run(lambda files: _beginning(files, cleaned))
    return preview_of(entry, data)


def _beginning(files: Files, path: str) -> tuple[Entry, bytes]:
    source = files.open(path)
    try:
        return source.entry, source.read(0, shown_bytes(source.entry.name))
    finally:
        source.close()


def shown_bytes(name: str) -> int:
    """How much of a file a preview looks at."""
    return MOST_EVENT_BYTES if is_event_file(name) else MOST_BYTES


def preview_of(entry: Entry, data: bytes) -> Preview:
    """Say what the beginning of a file shows."""
    is_cut = entry.size_bytes > len(data)
    if is_event_file(entry.name) and (curves := curves_of(data)) is not None:
        return Preview(entry, "curves", curves=curves, is_cut=is_cut)
    media_type = image_type(data)
    if media_type:
        return Preview(entry, "image", media_type)
    text = _text(data)
    if text is None:
        return Preview(entry, "binary")
    if entry.name.lower().endswith(TABLES):
        rows = _rows(text, is_cut)
        n_rows = text.count("\n")
        return Preview(entry, "table", "text/csv", rows=rows, is_cut=is_cut or n_rows > len(rows))
    return Preview(entry, "text", "text/plain", text, is_cut=is_cut)


def image_type(data: bytes) -> str:
    """The media type of an image that browsers draw; empty for all else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in IMAGES.items() if data.startswith(start)), "")


def _text(data: bytes) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        # The last character may be cut in two; anything else is no text.
        return data[: error.start].decode() if error.start >= len(data) - 3 and error.start else None


def _rows(text: str, is_cut: bool) -> list[list[str]]:
    lines = text.splitlines()
    if is_cut and len(lines) > 1:
        lines.pop()
    try:
        dialect: type[csv.Dialect] | csv.Dialect = csv.Sniffer().sniff(text[:8192], ",;\t|")
    except csv.Error:
        dialect = csv.excel
    try:
        read = list(islice(csv.reader(lines, dialect), MOST_ROWS))
    except csv.Error:
        return [[line[:MOST_CELL]] for line in lines[:MOST_ROWS]]
    return [[cell[:MOST_CELL] for cell in row[:MOST_COLUMNS]] for row in read]
