"""The real server in a thread of the test's process, on a free loopback port."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import httpx
import uvicorn
import uvloop

from footplate.domain.clock import Clock
from footplate.domain.storage import Storage
from footplate.engines.base import Engine
from footplate.server.app import API, answering, make_app
from footplate.server.connection import bounded
from footplate.server.door import Door
from footplate.server.parts import Parts
from footplate.server.settings import Settings
from footplate.server.websocket import MOST_BYTES, CountedWebSocket

ADMIN_PASSWORD = "correct horse battery"  # of servers that live for a test
DEADLINE_S = 10.0

T = TypeVar("T")


def until(find: Callable[[], T | None], deadline_s: float = DEADLINE_S) -> T:
    """Look again and again until there is something to see."""
    ends_at = time.monotonic() + deadline_s
    while not (seen := find()):
        assert time.monotonic() < ends_at, "it did not happen in time"
        time.sleep(0.002)
    return seen


class Served:
    """A running server as tests see it: over HTTP, and from the inside."""

    def __init__(
        self, settings: Settings, engine: Engine, clock: Clock, more_engines: Mapping[str, Engine]
    ) -> None:
        self.home = settings.home
        self.engine = engine
        self.clock = clock
        self.fatal: list[BaseException] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.app = make_app(settings, engine, clock, self.fatal.append, more_engines)
        door = Door(settings.connections, settings.proxies.trusts)
        config = uvicorn.Config(
            answering(self.app),
            http=bounded(door),
            ws=CountedWebSocket,
            ws_max_size=MOST_BYTES,
            log_config=None,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=lambda: uvloop.run(self._serve()), name="served")
        self._loop: asyncio.AbstractEventLoop | None = None

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._server.serve([self._listener])

    def start(self) -> None:
        self._thread.start()
        opening = self.app.state.opening
        until(lambda: opening.parts or opening.failure or not self._thread.is_alive())
        if opening.failure or not self._thread.is_alive():
            self.stop()
            raise AssertionError(f"the server did not start: {opening.failure or 'its log says why'}")
        until(lambda: self._server.started)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()

    @property
    def parts(self) -> Parts:
        parts: Parts = self.app.state.parts
        return parts

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on the server's event loop."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(DEADLINE_S)

    def client(self, token: str = "") -> httpx.Client:
        """A client whose paths begin below the API's prefix."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=f"{self.url}{API}", headers=headers, timeout=DEADLINE_S)

    def sign_in(self, user: str = "admin", password: str = ADMIN_PASSWORD) -> str:
        """Exchange name and password for a token."""
        with self.client() as client:
            answer = client.post("/login", json={"user": user, "password": password})
            assert answer.status_code == 200, answer.text
            return str(answer.json()["token"])


@contextmanager
def served(
    home: Path,
    engine: Engine,
    clock: Clock,
    database_url: str = "",
    storages: tuple[Storage, ...] = (),
    more_engines: Mapping[str, Engine] = MappingProxyType({}),
    **more: Any,
) -> Iterator[Served]:
    """Serve until the block ends; SQLite in the home folder unless a database is named.

    `more` are further settings.
    """
    given: dict[str, Any] = {"admin_password": ADMIN_PASSWORD, "disk_reserve_bytes": 0, **more}
    settings = Settings(home, database_url=database_url, storages=storages, **given)
    server = Served(settings, engine, clock, more_engines)
    server.start()
    try:
        yield server
    finally:
        server.stop()
