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
from footplate.store.faults import DISK_FULL

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


def answer(
    request: Request, status: int, code: str, message: str, problems: Any = (), **headers: str
) -> JSONResponse:
    request_id = request.scope.get("footplate_request_id", "")
    body = {
        "code": code,
        "message": message,
        "problems": [{"path": problem.path, "message": problem.message} for problem in problems],
        "request_id": request_id,
    }
    return JSONResponse(
        body, status, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


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
    headers = {}
    if isinstance(error, e.Unauthenticated):
        headers["WWW_Authenticate"] = "Bearer"
    if isinstance(error, e.Throttled):
        headers["Retry_After"] = str(math.ceil(error.retry_after_s))
    return answer(
        request, status_of(error), error.code, error.message, getattr(error, "problems", ()), **headers
    )


def _bad_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = [e.Problem(_place(fault), _say(fault)) for fault in error.errors()]
    return _ours(request, e.InvalidInput(problems))


def _place(fault: dict[str, Any]) -> str:
    # For a body that is no JSON at all the framework names a position instead of a field.
    return "body" if fault["type"] == "json_invalid" else _path(fault["loc"])


def _path(location: tuple[str | int, ...]) -> str:
    path = ""
    for part in location[1:] or location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path.encode("utf-8", "backslashreplace").decode()


def _say(fault: dict[str, Any]) -> str:
    bounds = fault.get("ctx", {})
    if fault["type"] in ("too_short", "too_long") and isinstance(fault.get("input"), str):
        few = "least" if fault["type"] == "too_short" else "most"
        return f"must have at {few} {bounds.get('min_length', bounds.get('max_length'))} characters"
    message = str(fault["msg"]).removeprefix("Value error, ")
    return message[0].lower() + message[1:].encode("utf-8", "backslashreplace").decode()


def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, e.FootplateError):
        # What our own envelope raised while the framework read the body.
        return _ours(request, error.__cause__)
    message = str(error.detail)
    if error.status_code == 404:
        message = f"there is nothing at {request.url.path[:200]}"
    if error.status_code == 405:
        message = f"{request.method} is not possible at {request.url.path[:200]}"
    code = _CODES.get(error.status_code, "invalid_input" if error.status_code < 500 else "internal")
    problems = (e.Problem("body", message),) if error.status_code == 400 else ()
    return answer(request, error.status_code, code, message, problems)


def _left(request: Request, _error: Exception) -> JSONResponse:
    # Nobody reads this, and nobody needs to be told of it: callers come and go.
    return answer(request, 400, "invalid_input", "the caller left before the request was whole")


def _unexpected(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _ours(request, e.DiskFull(DISK_FULL))
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    request_id = request.scope.get("footplate_request_id", "")
    return answer(request, 500, "internal", f"internal error; the server's log has it under {request_id}")
