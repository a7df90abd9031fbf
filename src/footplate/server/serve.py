"""Running the server in the foreground until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import fcntl
import gc
import logging
import os
import resource
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import IO

import uvicorn
import uvloop
from starlette.types import ASGIApp, Receive, Scope, Send

from footplate.domain.errors import Conflict, FootplateError, InvalidInput
from footplate.server.app import answering, make_app
from footplate.server.connection import bounded
from footplate.server.door import Door
from footplate.server.handshakes import SecureServer
from footplate.server.opening import FIRST_PAUSE_S, LONGEST_PAUSE_S, Opening, explain
from footplate.server.parts import Parts
from footplate.server.proxy.door import ServiceDoor
from footplate.server.settings import Settings
from footplate.server.tls import Tls
from footplate.server.websocket import MOST_SERVICE_BYTES, CountedWebSocket
from footplate.services.restoring import refuse_unfinished

log = logging.getLogger(__name__)

Ready = Callable[[Settings, Parts], Awaitable[None]]

BACKLOG = 2048
# Many short turns: the writer's thread must not wait long for the event loop's.
SWITCH_INTERVAL_S = 0.0005
SHUTDOWN_S = 3
# A password takes 16 MiB to check, which glibc would keep for the next one.
LARGE_BYTES = 8 * 1024**2
M_MMAP_THRESHOLD = -3
COLLECT_AFTER = (10_000, 20, 20)


def serve(settings: Settings, on_ready: Ready) -> None:
    """Serve until a signal; raise `Conflict` when another server has this home folder."""
    tls = Tls(*settings.tls_files) if settings.tls_files else None
    with (
        _lock(settings.home, settings.stands_by),
        _listen(settings) as listener,
        _listen_for_services(settings) or contextlib.nullcontext() as services,
    ):
        refuse_unfinished(settings.home)
        services_port = services.getsockname()[1] if services else None
        bound = replace(settings, port=listener.getsockname()[1], services_port=services_port)
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        _allow_many_files()
        _give_back_large_pieces()
        uvloop.run(_serve(bound, [listener, *([services] if services else [])], on_ready, tls))


async def _serve(
    settings: Settings, listeners: list[socket.socket], on_ready: Ready, tls: Tls | None
) -> None:
    def end(error: BaseException) -> None:
        log.critical("the server stops: %s", error)
        server.should_exit = True

    app = make_app(settings, on_fatal=end)
    opening: Opening = app.state.opening
    door = Door(settings.connections, settings.proxies.trusts)
    config = uvicorn.Config(
        ByPort(answering(app), settings.services_port, ServiceDoor(lambda: opening.parts)),
        http=bounded(door),
        ws=CountedWebSocket,
        ws_max_size=MOST_SERVICE_BYTES,
        log_config=None,
        access_log=settings.access_log,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=round(settings.connections.idle_s),
        timeout_graceful_shutdown=SHUTDOWN_S,
    )
    watching = _watch(tls, settings.url) if tls else None
    server = SecureServer(config, door, tls.context) if tls else uvicorn.Server(config)
    telling = asyncio.create_task(_tell_when_ready(server, opening, settings, on_ready))
    await server.serve(listeners)
    beside = [telling, *([watching] if watching else [])]
    for task in beside:
        task.cancel()
    await asyncio.gather(*beside, return_exceptions=True)
    if opening.failure is not None:
        raise opening.failure


async def _tell_when_ready(
    server: uvicorn.Server, opening: Opening, settings: Settings, on_ready: Ready
) -> None:
    """Say that the server is ready, once it is; end it when a person must change something first."""
    while not server.started:
        await asyncio.sleep(0.005)
    try:
        parts = await opening.wait()
    except FootplateError:
        server.should_exit = True
        return
    _spare_the_collector()
    try:
        await on_ready(settings, parts)
    except Exception:
        # The server answers by now: nothing that is only said of it may end it.
        log.exception("what is to be done when the server is ready failed")


def _watch(tls: Tls, url: str) -> asyncio.Task[None]:
    """Look after the certificate."""
    tls.warn(url)
    return asyncio.create_task(tls.watch())


def _spare_the_collector() -> None:
    """Leave what was loaded at start out of every garbage collection, and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


def _give_back_large_pieces() -> None:
    """Have large pieces of memory go back to the system as soon as they are free."""
    # Other C libraries do so anyway, or have no such switch.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)


def _allow_many_files() -> None:
    """Every running task costs one file descriptor: take as many as the system allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class _lock:  # noqa: N801  # used as a context manager, like a function
    """Holds a home folder for one server."""

    def __init__(self, home: Path, waits: bool) -> None:
        self._path = home / "lock"
        self._waits = waits

    def __enter__(self) -> None:
        self._file = _when_there(self._path)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.seek(0)
            holder = self._file.read().strip()
            if not self._waits:
                self._file.close()
                raise Conflict("home_in_use", holder=holder, home=str(self._path.parent)) from None
            log.info("this server stands by: %s uses the home folder %s", holder, self._path.parent)
            fcntl.flock(self._file, fcntl.LOCK_EX)
        # Who holds it is good to know; on a full disk it stays unsaid.
        with contextlib.suppress(OSError):
            self._file.truncate(0)
            self._file.write(f"pid {os.getpid()}")
            self._file.flush()

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _when_there(path: Path) -> IO[str]:
    """Open a file of the home folder; wait for its disk while that is away."""
    pause_s = FIRST_PAUSE_S
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            return path.open("a+")
        except (PermissionError, NotADirectoryError) as error:
            raise InvalidInput("home_unusable", str(path.parent), error=error.strerror) from error
        except OSError as error:
            log.warning("the server cannot start yet: %s; it tries again in %g s", explain(error), pause_s)
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)


class ByPort:
    """Hands what comes at the port for services to their door, and everything else to the app."""

    def __init__(self, app: ASGIApp, port: int | None, door: ASGIApp) -> None:
        self._app = app
        self._port = port
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        server = scope.get("server")
        is_service = self._port is not None and server is not None and server[1] == self._port
        await (self._door if is_service else self._app)(scope, receive, send)


def _listen_for_services(settings: Settings) -> socket.socket | None:
    """Take the port that is set, or else the next after the server's own, or any; None if none is wanted."""
    if not settings.has_services:
        return None
    if settings.services_port is not None:
        return _listen(replace(settings, port=settings.services_port))
    try:
        return _listen(replace(settings, port=settings.port + 1 if settings.port else 0))
    except (InvalidInput, OverflowError):
        return _listen(replace(settings, port=0))


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        raise InvalidInput(
            "cannot_listen", "port", host=settings.host, port=settings.port, error=error.strerror
        ) from error
    listener.listen(BACKLOG)
    listener.setblocking(False)
    return listener
