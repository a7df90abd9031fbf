"""Errors as answers: the only place that knows HTTP status numbers."""

from __future__ import annotations

import errno
import logging
import math
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from footplate.domain import errors as e
from footplate.domain.messages import say, text
from footplate.server.bodyfaults import describe
from footplate.wire.told import error_view

log = logging.getLogger(__name__)

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


def answer(request: Request, status: int, error: e.FootplateError, code: str = "") -> JSONResponse:
    body = error_view(error, request.scope.get("footplate_request_id", ""))
    return JSONResponse({**body, "code": code or error.code}, status, headers=_headers(error))


def _headers(error: e.FootplateError) -> dict[str, str]:
    if isinstance(error, e.Unauthenticated):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, e.Throttled):
        return {"Retry-After": str(math.ceil(error.retry_after_s))}
    return {}


def install(app: FastAPI) -> None:
    """Answer every error with one kind of body."""
    app.add_exception_handler(e.FootplateError, _ours)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ClientDisconnect, _left)
    app.add_exception_handler(Exception, _unexpected)


def _ours(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, e.FootplateError)
    if isinstance(error, e.StoreUnavailable):
        # Whoever keeps the server must learn of it too.
        log.error("%s %s was refused: %s", request.method, request.url.path, error.message)
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
