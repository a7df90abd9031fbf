"""Writes the heads of answers with capital letters: some clients look for `ETag`, and not for `etag`."""

from __future__ import annotations

from typing import Any

from starlette.types import Send

_OTHERWISE = {b"etag": b"ETag", b"content-md5": b"Content-MD5"}
_CONTINUE = b"HTTP/1.1 100"


def capitalize(head: bytes) -> bytes:
    """Write the names of a head's fields as people write them."""
    first, *fields = head.split(b"\r\n")
    return b"\r\n".join([first, *map(_field, fields)])


def _field(line: bytes) -> bytes:
    name, colon, value = line.partition(b":")
    return _OTHERWISE.get(name, name.title()) + colon + value


class CapitalHead:
    """A transport whose first write is the head of an answer."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._is_head = True

    def write(self, data: bytes) -> None:
        if self._is_head and not data.startswith(_CONTINUE):
            head, end, body = data.partition(b"\r\n\r\n")
            data, self._is_head = capitalize(head) + end + body, False
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def keep_case(send: Send) -> None:
    """Have the answer that a server's own `send` writes begin with such a head; silent for any other."""
    cycle = getattr(send, "__self__", None)
    if cycle is not None and hasattr(cycle, "transport"):
        cycle.transport = CapitalHead(cycle.transport)
