"""The built console: files with hashed names, each beside its compressed twins."""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from pathlib import Path

from fastapi.responses import FileResponse, Response

STATIC = Path(__file__).parent / "static"
_TWINS = {"br": ".br", "gzip": ".gz"}
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}


class Bundle:
    """Answers with files of one folder; it may be built while the server runs."""

    def __init__(self, folder: Path = STATIC) -> None:
        self._folder = folder

    def answer(self, name: str, asked: Mapping[str, str], headers: Mapping[str, str]) -> Response | None:
        """A file as the caller can read it; None when there is no such file."""
        path = self._folder / name
        if ".." in path.parts or path.suffix in _TWINS.values() or not path.is_file():
            return None
        sent = {**headers, "Vary": "Accept-Encoding"}
        kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"
        encoding = _best_encoding(path, asked.get("accept-encoding", ""))
        if encoding is not None:
            sent["Content-Encoding"] = encoding
            path = path.with_name(path.name + _TWINS[encoding])
        return FileResponse(path, headers=sent, media_type=kind)


def _best_encoding(path: Path, accepted: str) -> str | None:
    offered = {
        word.partition(";")[0].strip()
        for word in accepted.lower().split(",")
        if word.replace(" ", "").partition(";q=")[2] not in ("0", "0.0", "0.00", "0.000")
    }
    for encoding, ending in _TWINS.items():
        if encoding in offered and path.with_name(path.name + ending).is_file():
            return encoding
    return None
