"""How long calls of the API take, until the answer begins."""

from __future__ import annotations

import time
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footplate.domain.histogram import Histogram

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})


class CallTimes:
    """Times of calls by method and route: the pattern of its path, never what somebody put into it."""

    def __init__(self) -> None:
        self.by_route: dict[tuple[str, str], Histogram] = {}
        self.by_status: dict[str, int] = {}

    def note(self, scope: Scope, status: int, seconds: float) -> None:
        route: Any = scope.get("route")
        path = getattr(route, "path", "") if route is not None else ""
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self.by_route.setdefault((method, path or "other"), Histogram()).note(seconds)
        status_class = f"{status // 100}xx"
        self.by_status[status_class] = self.by_status.get(status_class, 0) + 1


class Timed:
    """Notes how long each request waited for the beginning of its answer."""

    def __init__(self, app: ASGIApp, times: CallTimes) -> None:
        self._app = app
        self._times = times

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def timed(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._times.note(scope, message["status"], time.perf_counter() - began)
            await send(message)

        await self._app(scope, receive, timed)


def measure_calls(app: FastAPI) -> None:
    """Measure all calls of an app; what was measured is in its state."""
    app.state.call_times = CallTimes()
    app.add_middleware(Timed, times=app.state.call_times)
