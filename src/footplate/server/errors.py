"""Errors as answers: the only place that knows HTTP status numbers."""

from __future__ import annotations

import errno
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from fastapi import APIRouter, FastAPI, Request, WebSocket
from fastapi.exceptions import RequestValidationError
from fastapi.requests import HTTPConnection
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.websockets import WebSocketState

from footplate.domain import errors as e
from footplate.domain.messages import say, text
from footplate.server.bodyfaults import describe
from footplate.wire.told import error_view

log = logging.getLogger(__name__)

# From here on it is not the caller's to mend.
SERVER_FAULT = 500
# By the numbers of the WebSocket protocol: why one is closed, and how many bytes may say so.
POLICY_VIOLATION = 1008
MOST_REASON_BYTES = 123

STATUS: dict[type[e.FootplateError], int] = {
    e.HeadTooLarge: 431,
    e.TooLarge: 413,
    e.InvalidInput: 422,
    e.Unauthenticated: 401,
    e.Denied: 403,
    e.Throttled: 429,
    e.NotFound: 404,
    e.Conflict: 409,
    e.TooSlow: 408,
    e.TooManyConnections: 503,
    e.DiskFull: 507,
    e.StoreUnavailable: 503,
    e.StorageAway: 503,
    e.EngineRejected: 422,
    e.EngineUnavailable: 503,
    e.EngineError: 502,
    e.FootplateError: 500,
}
_CODES = {
    400: "invalid_input",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "invalid_input",
}


def status_of(error: e.FootplateError) -> int:
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


@dataclass(frozen=True, slots=True)
class Refusal:
    """What an answer says of an error, in whatever words and shape."""

    status: int
    code: str
    error: e.FootplateError
    request_id: str

    @property
    def problems(self) -> Sequence[e.Problem]:
        return self.error.problems if isinstance(self.error, e.InvalidInput) else ()


# The body by which a router tells of a refusal; clients of other systems know only their own.
BodyOf = Callable[[Refusal], Any]


def refusal_of(request: Request, error: e.FootplateError) -> Refusal:
    """A refusal of a part of a request, which is told within its answer."""
    return Refusal(status_of(error), error.code, error, request.scope.get("footplate_request_id", ""))


def our_body(refusal: Refusal) -> dict[str, Any]:
    return {**error_view(refusal.error, refusal.request_id), "code": refusal.code}


def answer(request: Request, status: int, error: e.FootplateError, code: str = "") -> JSONResponse:
    request_id = request.scope.get("footplate_request_id", "")
    body = _body_for(request)(Refusal(status, code or error.code, error, request_id))
    return JSONResponse(body, status, headers=_headers(error))


def _headers(error: e.FootplateError) -> dict[str, str]:
    if isinstance(error, e.Unauthenticated):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, e.Throttled):
        return {"Retry-After": str(math.ceil(error.retry_after_s))}
    return {}


def _body_for(request: Request) -> BodyOf:
    bodies: Mapping[str, BodyOf] = getattr(request.app.state, "error_bodies", {})
    path = request.url.path
    above = [prefix for prefix in bodies if path == prefix or path.startswith(f"{prefix}/")]
    return bodies[max(above, key=len)] if above else our_body


def include(app: FastAPI, router: APIRouter, body: BodyOf) -> None:
    """Add a router whose errors have a body of its own, all that is refused below its prefix included."""
    app.include_router(router)
    app.state.error_bodies = {**getattr(app.state, "error_bodies", {}), router.prefix: body}


def install(app: FastAPI, bodies: Mapping[str, BodyOf] = MappingProxyType({})) -> None:
    """Answer every error, with our own kind of body unless there is another below a path."""
    app.state.error_bodies = dict(bodies)
    app.add_exception_handler(e.FootplateError, _told(_ours))
    app.add_exception_handler(RequestValidationError, _told(_bad_request))
    app.add_exception_handler(HTTPException, _told(_http))
    app.add_exception_handler(ClientDisconnect, _left)
    app.add_exception_handler(Exception, _unexpected)


def _told(answer_to: Callable[[Request, Exception], JSONResponse]) -> Callable[[Request, Exception], Any]:
    """Let a WebSocket be refused with the answer that a request would get, or be closed if it is open."""

    async def handle(connection: HTTPConnection, error: Exception) -> JSONResponse | None:
        # All that answers need is what both kinds of connection have.
        response = answer_to(cast("Request", connection), error)
        if not isinstance(connection, WebSocket):
            return response
        if connection.application_state is WebSocketState.CONNECTING:
            await connection.send_denial_response(response)
        else:
            reason = str(error).encode()[:MOST_REASON_BYTES].decode(errors="ignore")
            await connection.close(POLICY_VIOLATION, reason)
        return None

    return handle


def _ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, e.FootplateError)
    if isinstance(error, e.StoreUnavailable):
        # Whoever keeps the server must learn of it too.
        log.error("%s %s was refused: %s", request.scope.get("method"), request.url.path, error.message)
    return answer(request, status_of(error), error)


def _bad_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = [e.Problem(_place(fault), describe(fault)) for fault in error.errors()]
    return _ours(request, e.InvalidInput(problems))


def _place(fault: dict[str, Any]) -> str:
    # For a body that is no JSON at all the framework names a position instead of a field.
    return "body" if fault["type"] == "json_invalid" else _path(fault["loc"])


def _path(location: tuple[str | int, ...]) -> str:
    path = ""
    for part in location[1:] or location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path.encode("utf-8", "backslashreplace").decode()


def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, e.FootplateError):
        # What our own envelope raised while the framework read the body.
        return _ours(request, error.__cause__)
    status, place = error.status_code, request.url.path[:200]
    said = text(str(error.detail))
    if status == 404:
        said = say("nothing_here", place=place)
    if status == 405:
        said = say("method_impossible", method=request.method, place=place)
    refusal = e.InvalidInput(said, "body") if status == 400 else e.FootplateError(said)
    code = _CODES.get(status, "invalid_input" if status < 500 else "internal")
    return answer(request, status, refusal, code)


def _left(request: Request, _error: Exception) -> JSONResponse:
    # Nobody reads this, and nobody needs to be told of it: callers come and go.
    return answer(request, 400, e.FootplateError("caller_left"), "invalid_input")


def _unexpected(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _ours(request, e.DiskFull("disk_is_full"))
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    request_id = request.scope.get("footplate_request_id", "")
    return answer(request, 500, e.FootplateError("internal_error", request=request_id))
