"""Calls to a server on this machine through `http.client`, at a third of the cost of httpx.

Only whole answers, without TLS and without a proxy; the words for what goes wrong are those of httpx.
"""

from __future__ import annotations

import http.client
import json
import select
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx

MOST_IDLE = 32
CONNECT_S = 10.0


class PlainCalls:
    """Sends requests over connections that are kept open, and shared by threads one call at a time."""

    def __init__(self, base_url: str, timeout_s: float | None) -> None:
        parts = urlsplit(base_url)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._base = parts.path.rstrip("/")
        self._timeout_s = timeout_s
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def request(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        params: Mapping[str, Any],
        json: Any = None,
        timeout: float | None = None,
    ) -> httpx.Response:
        """Send JSON, or nothing, and return the whole answer."""
        target = f"{self._base}{path}{_query(params)}"
        connection = self._take() or self._connect()
        try:
            connection.sock.settimeout(self._timeout_s if timeout is None else timeout)
            _send(connection, method, target, headers, json)
            answer = connection.getresponse()
            content = answer.read()
        except BaseException as error:
            connection.close()
            if (translated := _translated(error)) is None:
                raise
            raise translated from error
        self._give_back(connection, answer)
        return httpx.Response(answer.status, headers=answer.getheaders(), content=content)

    def _take(self) -> http.client.HTTPConnection | None:
        """Take a connection that was kept, unless the server has closed it meanwhile."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            if not _was_closed(connection):
                return connection
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        timeout_s = CONNECT_S if self._timeout_s is None else min(self._timeout_s, CONNECT_S)
        connection = http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)
        try:
            connection.connect()
        except TimeoutError as error:
            raise httpx.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        return connection

    def _give_back(self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse) -> None:
        with self._lock:
            if not (self._is_closed or answer.will_close) and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _query(params: Mapping[str, Any]) -> str:
    if not params:
        return ""
    said = {name: str(value).lower() if isinstance(value, bool) else value for name, value in params.items()}
    return f"?{urlencode(said, doseq=True)}"


def _send(
    connection: http.client.HTTPConnection, method: str, target: str, headers: Mapping[str, str], body: Any
) -> None:
    content = None
    if body is not None:
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        headers = {**headers, "Content-Type": "application/json"}
    connection.request(method, target, content, dict(headers))


def _was_closed(connection: http.client.HTTPConnection) -> bool:
    """Tell whether the other side has closed an idle connection: nothing else can be there to read."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))


def _translated(error: BaseException) -> httpx.TransportError | None:
    """Say what went wrong in the words of httpx; None for what is no fault of the connection."""
    message = str(error) or type(error).__name__
    if isinstance(error, TimeoutError):
        return httpx.ReadTimeout(message)
    if isinstance(error, http.client.HTTPException):
        return httpx.RemoteProtocolError(message)
    if isinstance(error, OSError):
        return httpx.ReadError(message)
    # What no header can hold, such as a token with a line break.
    return httpx.LocalProtocolError(message) if isinstance(error, ValueError) else None
