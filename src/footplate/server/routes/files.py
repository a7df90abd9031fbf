"""The files of jobs over REST."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response, StreamingResponse

from footplate.server.auth import Signed, Wired
from footplate.server.previewing import preview_view
from footplate.services import files, jobfiles
from footplate.wire import files as w
from footplate.wire import storagefiles
from footplate.wire.body import Text
from footplate.wire.convert import instant

router = APIRouter(prefix="/jobs", tags=["jobs"])

InnerPath = Annotated[Text, Query(max_length=4096, description="A file or folder below it.")]


@router.get("/{job_id}/files", response_model=w.JobFiles)
async def present(parts: Wired, caller: Signed, job_id: str) -> Response:
    """Which files of the job there are to download."""
    return JSONResponse({"items": await files.present(parts.platform, caller, job_id)})


@router.get("/{job_id}/files/{what}", response_model=w.FileList)
async def entries(
    parts: Wired,
    caller: Signed,
    job_id: str,
    what: w.Part,
    path: InnerPath = "",
    is_deep: Annotated[bool, Query(description="Whether what lies in inner folders is listed too.")] = True,
) -> Response:
    """The files and folders in one of the job's folders, as deep as it goes."""
    asked = (job_id, what, path)
    found, is_cut = await jobfiles.entries_of(parts.platform, caller, *asked, is_deep=is_deep)
    items = [{**asdict(one), "modified_at": instant(one.modified_at)} for one in found]
    return JSONResponse({"items": items, "is_cut": is_cut})


@router.get("/{job_id}/files/{what}/preview", response_model=storagefiles.PreviewBody)
async def preview(parts: Wired, caller: Signed, job_id: str, what: w.Part, path: InnerPath) -> dict[str, Any]:
    """The beginning of one of the job's files, for people."""
    return preview_view(await jobfiles.preview_in(parts.platform, caller, job_id, what, path))


@router.get(
    "/{job_id}/download",
    response_class=Response,
    responses={
        200: {
            "content": {"application/gzip": {}, "application/octet-stream": {}},
            "description": "A .tar.gz archive, or one file as it is.",
        }
    },
)
async def download(
    parts: Wired,
    caller: Signed,
    job_id: str,
    what: Annotated[w.Part, Query(description="Which of its files.")] = "output",
    path: InnerPath = "",
) -> Response:
    """What the job has made so far: a folder as an archive, or one file."""
    job, found = await jobfiles.open_in(parts.platform, caller, job_id, what, path)
    last = path.rstrip("/").rpartition("/")[2]
    if isinstance(found, jobfiles.Opened):
        headers = {**_saved_as(last), "Content-Length": str(found.size_bytes)}
        return StreamingResponse(
            jobfiles.content_of(found), media_type="application/octet-stream", headers=headers
        )
    name = last or f"{job.spec.name}-{what}"
    return StreamingResponse(
        files.archive(found, name), media_type="application/gzip", headers=_saved_as(f"{name}.tar.gz")
    )


def _saved_as(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
