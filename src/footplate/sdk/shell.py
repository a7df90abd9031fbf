"""A shell in a task: bytes both ways over a WebSocket that is opened again when it is lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from footplate.domain.errors import Conflict, FootplateError, NotFound
from footplate.sdk import certificates
from footplate.sdk.connection import API, Connection, is_loopback
from footplate.sdk.errors import Unreachable, rebuild

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

OPEN_S = 10.0
# As the server closes the connection of whoever was replaced.
REPLACED = 4001


class Shell:
    """A shell in a task; `run` shows what it writes, to its end, while others write to it.

    A lost connection is opened again: what was missed is shown then. After a restart of the server there is
    a new shell; `tell` hears `lost`, `back`, `new` and `replaced`.
    """

    def __init__(
        self,
        connection: Connection,
        path: str,
        task: str | None,
        size: tuple[int, int],
        tell: Callable[[str], None] = lambda _what: None,
    ) -> None:
        self._connection = connection
        self._path = path
        self._task = task
        self._size = size
        self._tell = tell
        self._id = ""
        self._seen = 0
        self._line: ClientConnection | None = None
        self._is_left = threading.Event()
        self._open()
        # Connected at once: what is typed from now on is not lost.
        self._fresh: ClientConnection | None = self._connect()

    def _open(self) -> None:
        rows, columns = self._size
        body = {"task": self._task, "rows": rows, "columns": columns}
        answer = self._connection.send("POST", self._path, body)
        self._id, self._seen, self._task = answer["id"], 0, answer["task"]

    @property
    def task(self) -> str:
        return self._task or ""

    def run(self, show: Callable[[bytes], Any]) -> int | None:
        """Show all that the shell writes; return its exit code, None when somebody left or took over."""
        patience = self._connection.patience()
        is_lost = False
        while not self._is_left.is_set():
            try:
                with self._connected() as line:
                    patience.connect()
                    if is_lost and self._seen:
                        self._tell("back")
                    is_lost = False
                    return self._listen(line, show)
            except (Unreachable, OSError) as error:
                if self._is_left.is_set():
                    break
                if not is_lost and patience.has_connected:
                    self._tell("lost")
                is_lost = True
                patience.lose(error if isinstance(error, FootplateError) else Unreachable(str(error)))
                patience.pause()
        return None

    def _connected(self) -> ClientConnection:
        fresh, self._fresh = self._fresh, None
        if fresh is not None:
            return fresh
        try:
            return self._connect()
        except NotFound:
            self._open()
            line = self._connect()
            self._tell("new")
            return line

    def _connect(self) -> ClientConnection:
        self._line = line = connect(self._connection, f"{self._path}/{self._id}/stream", seen=self._seen)
        return line

    def _listen(self, line: ClientConnection, show: Callable[[bytes], Any]) -> int | None:
        from websockets.exceptions import ConnectionClosed

        self.resize(*self._size)
        try:
            while True:
                message = line.recv()
                if isinstance(message, bytes):
                    self._seen += len(message)
                    show(message)
                    continue
                told = json.loads(message)
                if "exit_code" in told:
                    code: int | None = told["exit_code"]
                    return code
                self._seen = told["offset"]
        except ConnectionClosed as closed:
            if closed.rcvd is not None and closed.rcvd.code == REPLACED:
                self._tell("replaced")
                return None
            if self._is_left.is_set():
                return None
            url = self._connection.settings.url
            raise Unreachable("connection_broke", url=url, error=str(closed)) from closed

    def write(self, data: bytes) -> None:
        """Type; while the connection is lost, nothing is typed."""
        self._send(data)

    def resize(self, rows: int, columns: int) -> None:
        self._size = rows, columns
        self._send(json.dumps({"rows": rows, "columns": columns}))

    def _send(self, message: str | bytes) -> None:
        from websockets.exceptions import ConnectionClosed

        if self._line is not None:
            with suppress(ConnectionClosed, OSError):
                self._line.send(message)

    def end(self) -> None:
        """End the shell, and what it runs."""
        self._is_left.set()
        with suppress(NotFound, Unreachable, Conflict):
            self._connection.request("DELETE", f"{self._path}/{self._id}")
        if self._line is not None:
            self._line.close()


def connect(connection: Connection, path: str, **params: Any) -> ClientConnection:
    """Open a WebSocket; refusals are raised as those of requests."""
    from websockets.exceptions import InvalidHandshake, InvalidStatus
    from websockets.sync.client import connect as open_websocket

    settings = connection.settings
    url = f"ws{settings.url.removeprefix('http')}{API}{path}?{urlencode(params)}"
    try:
        return open_websocket(
            url,
            additional_headers=connection.credentials(),
            ssl=certificates.trusted() if url.startswith("wss:") else None,
            proxy=None if is_loopback(settings.url) else True,
            open_timeout=OPEN_S,
            max_size=None,
        )
    except InvalidStatus as error:
        response = error.response
        try:
            body = json.loads(response.body or b"")
        except ValueError:
            raise Unreachable("server_unavailable", url=settings.url, status=response.status_code) from error
        raise rebuild(response.status_code, body, settings.url, None) from error
    except (OSError, TimeoutError, EOFError, InvalidHandshake) as error:
        raise Unreachable("connection_broke", url=settings.url, error=str(error)) from error
