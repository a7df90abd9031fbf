"""Running the server in the foreground until it is told to stop."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import logging
import os
import resource
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import uvicorn
import uvloop

from footplate.domain.errors import Conflict, InvalidInput
from footplate.server.app import make_app
from footplate.server.parts import Parts
from footplate.server.settings import Settings
from footplate.store.database import sqlite_url
from footplate.store.migrate import refuse_newer

log = logging.getLogger(__name__)

Ready = Callable[[Settings, Parts], Awaitable[None]]

BACKLOG = 2048
# Many short turns: the writer's thread must not wait long for the event loop's.
SWITCH_INTERVAL_S = 0.0005
SHUTDOWN_S = 3
COLLECT_AFTER = (10_000, 20, 20)


def serve(settings: Settings, on_ready: Ready) -> None:
    """Serve until a signal; raise `Conflict` when another server has this home folder."""
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _lock(settings.home), _listen(settings) as listener:
        bound = replace(settings, port=listener.getsockname()[1])
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        _allow_many_files()
        refuse_newer(settings.database_url or sqlite_url(settings.home))
        uvloop.run(_serve(bound, listener, on_ready))


async def _serve(settings: Settings, listener: socket.socket, on_ready: Ready) -> None:
    def end(error: BaseException) -> None:
        log.critical("the server stops: %s", error)
        server.should_exit = True

    app = make_app(settings, on_fatal=end)
    config = uvicorn.Config(
        app,
        http="httptools",
        log_config=None,
        access_log=settings.access_log,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=SHUTDOWN_S,
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve([listener]))
    while not server.started and not running.done():
        await asyncio.sleep(0.005)
    if server.started:
        _spare_the_collector()
        await on_ready(settings, app.state.parts)
    await running
    if not server.started:
        raise Conflict("the server could not start; its log above says why")


def _spare_the_collector() -> None:
    """Leave what was loaded at start out of every garbage collection, and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


def _allow_many_files() -> None:
    """Every running task costs one file descriptor: take as many as the system allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class _lock:  # noqa: N801  # used as a context manager, like a function
    """Holds a home folder for one server."""

    def __init__(self, home: Path) -> None:
        self._path = home / "lock"

    def __enter__(self) -> None:
        self._file = self._path.open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.seek(0)
            holder = self._file.read().strip()
            raise Conflict(
                f"another Footplate server ({holder}) uses the home folder {self._path.parent}"
            ) from None
        self._file.truncate(0)
        self._file.write(f"pid {os.getpid()}")
        self._file.flush()

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        raise InvalidInput(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror}; try another --port",
            "port",
        ) from error
    listener.listen(BACKLOG)
    listener.setblocking(False)
    return listener
