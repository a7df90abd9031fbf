"""Server-sent events, read from a stream of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event; `id` is the cursor to resume after it, empty when the server gave none."""

    kind: str
    data: str
    id: str = ""


def parse(chunks: Iterable[bytes]) -> Iterator[ServerEvent]:
    """Read events; one that is cut off at the end of the stream is not yielded."""
    kind, cursor, data = "message", "", list[str]()
    for line in _lines(chunks):
        if not line:
            if data:
                yield ServerEvent(kind, "\n".join(data), cursor)
            kind, cursor, data = "message", "", []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            kind = value
        elif name == "data":
            data.append(value)
        elif name == "id":
            cursor = value


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    # Only line feeds end a line: what else Unicode calls a line break may stand inside the data.
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")
