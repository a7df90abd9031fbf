"""Looking inside jobs over REST: commands in their tasks, and their files."""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from dataclasses import asdict
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import ValidationError

from footplate.domain.errors import InvalidInput
from footplate.domain.resources import MIB
from footplate.server.auth import Signed, Wired
from footplate.services import files, inside
from footplate.wire import files as w
from footplate.wire.inside import Exec, RanBody

router = APIRouter(prefix="/jobs", tags=["jobs"])

# Standard input in base64, and a little for the rest.
MOST_BODY_BYTES = inside.MOST_INPUT_BYTES * 4 // 3 + MIB
_EXEC = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": Exec.model_json_schema()}},
    }
}


@router.post("/{job_id}/exec", response_model=RanBody, openapi_extra=_EXEC)
async def run_inside(request: Request, parts: Wired, caller: Signed, job_id: str) -> Response:
    """Run a command in a task's environment: its variables, files and limits. No terminal."""
    # Read only now that the caller is known, since it may be large.
    ask, stdin = await asyncio.to_thread(_read, await request.body())
    ran = await inside.run_inside(parts.platform, caller, job_id, ask.task, ask.command, ask.timeout_s, stdin)
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
    if len(stdin) > inside.MOST_INPUT_BYTES:
        raise InvalidInput("input_too_long", "input", most_bytes=inside.MOST_INPUT_BYTES)
    return ask, stdin


@router.get("/{job_id}/files", response_model=w.JobFiles)
async def present(parts: Wired, caller: Signed, job_id: str) -> Response:
    """Which files of the job there are to download."""
    return JSONResponse({"items": await files.present(parts.platform, caller, job_id)})


@router.get(
    "/{job_id}/download",
    response_class=Response,
    responses={200: {"content": {"application/gzip": {}}, "description": "A .tar.gz archive."}},
)
async def download(
    parts: Wired,
    caller: Signed,
    job_id: str,
    what: Annotated[w.Part, Query(description="Which of its files.")] = "output",
) -> Response:
    """What the job has made so far, as an archive."""
    job, folder = await files.folder_of(parts.platform, caller, job_id, what)
    name = f"{job.spec.name}-{what}"
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}.tar.gz"}
    return StreamingResponse(files.archive(folder, name), media_type="application/gzip", headers=headers)
