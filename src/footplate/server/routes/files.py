"""The files of jobs over REST."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response, StreamingResponse

from footplate.server.auth import Signed, Wired
from footplate.services import files
from footplate.wire import files as w

router = APIRouter(prefix="/jobs", tags=["jobs"])


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
