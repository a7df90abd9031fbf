"""How calls of MLflow's clients are answered: who asks, with what, and how a refusal is told."""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from footplate.domain.errors import Conflict, FootplateError, InvalidInput, NotFound, Unauthenticated
from footplate.server.auth import caller_of
from footplate.server.errors import status_of
from footplate.server.parts import Parts, parts_of
from footplate.services.access import Caller

API = "/api/2.0/mlflow"
Data = dict[str, Any]
Call = Callable[[Parts, Caller, str, Data], Awaitable[Data]]
_CODES = (
    (NotFound, "RESOURCE_DOES_NOT_EXIST"),
    (Conflict, "RESOURCE_ALREADY_EXISTS"),
    (InvalidInput, "INVALID_PARAMETER_VALUE"),
    (Unauthenticated, "UNAUTHENTICATED"),
)


async def who(request: Request) -> tuple[Caller, str]:
    """Say who calls, and which task of a job: the address that jobs are given has both."""
    scheme, _, word = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return await caller_of(request), ""
    try:
        task, _, token = base64.b64decode(word).decode().partition(":")
    except ValueError:
        raise Unauthenticated("no_valid_token") from None
    return await parts_of(request).accounts.identify(token), task


def refused(error: FootplateError) -> Response:
    code = next((code for kind, code in _CODES if isinstance(error, kind)), "PERMISSION_DENIED")
    return JSONResponse({"error_code": code, "message": error.message}, status_of(error))


async def _asked(request: Request) -> Data:
    if request.method == "GET":
        return dict(request.query_params)
    try:
        found = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError) as error:
        raise InvalidInput("document_not_json", source="body", error=str(error)) from None
    if not isinstance(found, dict):
        raise InvalidInput("document_not_json", source="body", error="no mapping")
    return found


class Calls:
    """Adds calls to a router, each a function of what is asked."""

    def __init__(self, router: APIRouter) -> None:
        self._router = router

    def __call__(self, path: str, *methods: str) -> Callable[[Call], Call]:
        def add(call: Call) -> Call:
            async def answer(request: Request) -> Response:
                try:
                    caller, task = await who(request)
                    asked = {**await _asked(request), **request.path_params}
                    return JSONResponse(await call(parts_of(request), caller, task, asked))
                except FootplateError as error:
                    return refused(error)
                except (KeyError, TypeError, ValueError, AttributeError) as error:
                    return refused(InvalidInput("document_not_json", source="body", error=str(error)))

            names = list(methods) or ["POST"]
            self._router.add_api_route(f"{API}/{path}", answer, methods=names, response_model=None)
            return call

        return add
