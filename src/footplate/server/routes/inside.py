"""Looking inside jobs over REST: commands in their tasks, and their files."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response, StreamingResponse

from footplate.server.auth import Signed, Wired
from footplate.services import files, inside
from footplate.wire import files as w
from footplate.wire import payloads as p

router = APIRouter(prefix="/jobs", tags=["jobs"])


@router.post("/{job_id}/exec", response_model=p.RanBody)
async def run_inside(parts: Wired, caller: Signed, job_id: str, ask: p.Exec) -> Response:
    """Run a command in a task's environment: its variables, files and limits. No terminal, no input."""
    ran = await inside.run_inside(parts.platform, caller, job_id, ask.task, ask.command, ask.timeout_s)
    output = ran.output.decode("utf-8", "replace")
    return JSONResponse({"exit_code": ran.exit_code, "output": output, "is_cut": ran.is_cut})


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
