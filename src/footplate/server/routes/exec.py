"""Running commands in tasks over REST."""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from dataclasses import asdict

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError

from footplate.domain.errors import InvalidInput
from footplate.domain.resources import MIB
from footplate.server.auth import Signed, Wired
from footplate.server.leaving import CallerGone, unless_gone
from footplate.services.exec import MOST_INPUT_BYTES, exec_in_task
from footplate.wire.exec import Exec, RanBody

router = APIRouter(prefix="/jobs", tags=["jobs"])

# Standard input in base64, and a little for the rest.
MOST_BODY_BYTES = MOST_INPUT_BYTES * 4 // 3 + MIB
# As proxies log it; nobody reads it.
CALLER_GONE = 499
_EXEC = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": Exec.model_json_schema()}},
    }
}


@router.post("/{job_id}/exec", response_model=RanBody, openapi_extra=_EXEC)
async def exec_(request: Request, parts: Wired, caller: Signed, job_id: str) -> Response:
    """Run a command in a task's environment: its variables, files and limits. No terminal.

    It is ended when the caller closes the connection.
    """
    # Read only now that the caller is known, since it may be large.
    ask, stdin = await asyncio.to_thread(_read, await request.body())
    running = exec_in_task(parts.platform, caller, job_id, ask.task, ask.command, ask.timeout_s, stdin)
    try:
        ran = await unless_gone(request, running)
    except CallerGone:
        return Response(status_code=CALLER_GONE)
    is_text = ask.encoding == "utf-8"
    output = ran.output.decode("utf-8", "replace") if is_text else b64encode(ran.output).decode()
    return JSONResponse({**asdict(ran), "output": output})


def _read(body: bytes) -> tuple[Exec, bytes]:
    try:
        ask = Exec.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(
            [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        ) from None
    try:
        stdin = b64decode(ask.input, validate=True)
    except ValueError:
        raise InvalidInput("not_base64", "input") from None
    if len(stdin) > MOST_INPUT_BYTES:
        raise InvalidInput("input_too_long", "input", most_bytes=MOST_INPUT_BYTES)
    return ask, stdin
