"""The HTTP client of the SDK: httpx, but for small calls to a server of this machine."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

import httpx

from footplate.sdk.plainhttp import PlainCalls

_PLAIN = frozenset({"headers", "params", "json", "timeout"})


class QuickClient(httpx.Client):
    """Sends whole JSON calls over `PlainCalls` where it can, all else as httpx does."""

    def __init__(
        self, *, base_url: str, transport: httpx.BaseTransport | None = None, **options: Any
    ) -> None:
        super().__init__(base_url=base_url, transport=transport, **options)
        is_plain = transport is None and _is_plain(base_url)
        self._plain = PlainCalls(base_url, self.timeout.read) if is_plain else None

    def request(self, method: str, url: httpx.URL | str, **rest: Any) -> httpx.Response:
        if self._plain is None or not rest.keys() <= _PLAIN:
            return super().request(method, url, **rest)
        return self._plain.request(method, str(url), **{"headers": {}, "params": {}, **rest})

    def close(self) -> None:
        super().close()
        if self._plain is not None:
            self._plain.close()


def _is_plain(url: str) -> bool:
    """Tell whether a server is on this machine, where no proxy can stand between, and speaks no TLS."""
    parts = urlsplit(url)
    if parts.scheme != "http":
        return False
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return parts.hostname == "localhost"
