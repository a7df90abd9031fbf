"""Files of storages over REST; paths are parameters, so that no proxy on the way changes them."""

from __future__ import annotations

import base64
import binascii
import os
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response, StreamingResponse

from footplate.domain.errors import InvalidInput
from footplate.server.auth import Signed, Wired
from footplate.server.previewing import preview_view
from footplate.server.sendfile import send_file
from footplate.services import folderstreams, previews, storagefiles, uploads
from footplate.services.storagefiles import FileRef
from footplate.services.uploads import Wanted
from footplate.wire import storagefiles as w

router = APIRouter(prefix="/storages/{name}", tags=["files"])
MOST_ON_A_PAGE = 10_000

Path = Annotated[w.FilePath, Query(description="Path on the storage; absent: its root.")]
Digest = Annotated[
    w.Digest, Header(alias="X-Content-SHA256", description="Digest of the body; another one is refused.")
]


@router.get("/entries", response_model=w.Entries)
async def entries(
    parts: Wired,
    caller: Signed,
    name: str,
    path: Path = "",
    limit: Annotated[int, Query(ge=1, le=MOST_ON_A_PAGE)] = 1000,
    page_token: Annotated[str, Query(max_length=1024)] = "",
) -> dict[str, Any]:
    """A folder, by name, page by page."""
    page = await storagefiles.page(parts.platform, caller, name, path, _after(page_token), limit)
    token = base64.urlsafe_b64encode(os.fsencode(page.after)).decode() if page.after else None
    items = [w.entry_view(entry) for entry in page.entries]
    return {"items": items, "next_page_token": token, "n_unnamed": page.n_unnamed}


def _after(token: str) -> str:
    try:
        return os.fsdecode(base64.urlsafe_b64decode(token.encode()))
    except (binascii.Error, ValueError):
        raise InvalidInput("not_page_token", "page_token") from None


@router.delete("/entries", status_code=204)
async def remove(parts: Wired, caller: Signed, name: str, path: Path, recursive: bool = False) -> Response:
    """Delete a file or a folder; one that is not empty needs `recursive`."""
    await storagefiles.remove(parts.platform, caller, name, path, recursive)
    return Response(status_code=204)


@router.get("/entry", response_model=w.EntryBody)
async def entry(parts: Wired, caller: Signed, name: str, path: Path = "") -> dict[str, Any]:
    """One file or folder."""
    return w.entry_view(await storagefiles.stat(parts.platform, caller, name, path))


@router.get("/usage", response_model=w.FolderUse)
async def usage(parts: Wired, caller: Signed, name: str, path: Path = "") -> dict[str, Any]:
    """How much a file or folder holds."""
    found = await storagefiles.usage(parts.platform, caller, name, path)
    return {"n_files": found.n_files, "n_folders": found.n_folders, "size_bytes": found.size_bytes}


@router.get("/preview", response_model=w.PreviewBody)
async def preview(parts: Wired, caller: Signed, name: str, path: Path) -> dict[str, Any]:
    """The beginning of a file, for people."""
    return preview_view(await previews.preview(parts.platform, caller, name, path))


@router.head("/content", include_in_schema=False)
@router.get(
    "/content",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The file."}},
)
async def content(
    parts: Wired,
    caller: Signed,
    request: Request,
    name: str,
    path: Path,
    inline: Annotated[bool, Query(description="Show an image instead of saving it.")] = False,
) -> Response:
    """A file, or the range of it that is asked for."""
    opened, source = await storagefiles.open_file(parts.platform, caller, name, path)
    return await send_file(request, opened, source, inline)


@router.put("/content", response_model=w.EntryBody)
async def put(
    parts: Wired,
    caller: Signed,
    request: Request,
    name: str,
    path: Path,
    if_exists: w.IfExists = "replace",
    is_executable: bool = False,
    sha256: Digest = "",
) -> dict[str, Any]:
    """Write a file whole: the body is its content."""
    wanted = Wanted(path, if_exists, sha256, is_executable)
    stream, n_bytes = request.stream(), _announced(request)
    return w.entry_view(await uploads.put(parts.platform, caller, name, wanted, stream, n_bytes))


def _announced(request: Request) -> int:
    given = request.headers.get("content-length", "")
    return int(given) if given.isdecimal() and len(given) < 18 else 0


@router.get(
    "/archive",
    response_class=Response,
    responses={200: {"content": {"application/gzip": {}}, "description": "A .tar.gz archive."}},
)
async def archive(
    parts: Wired,
    caller: Signed,
    name: str,
    path: Path = "",
    plain: Annotated[bool, Query(description="As .tar, not compressed.")] = False,
    largest_bytes: Annotated[
        int | None, Query(ge=0, description="Leave larger files out; absent: all are in it.")
    ] = None,
) -> Response:
    """A folder with all that is in it; links are left out."""
    called, chunks = await folderstreams.archive(parts.platform, caller, name, path, plain, largest_bytes)
    ending, media_type = (".tar", "application/x-tar") if plain else (".tar.gz", "application/gzip")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(called, safe='')}{ending}"}
    return StreamingResponse(chunks, media_type=media_type, headers=headers)


@router.post("/batch", response_model=w.Unpacked)
async def batch(
    parts: Wired, caller: Signed, request: Request, name: str, path: Path = "", sha256: Digest = ""
) -> dict[str, Any]:
    """Write many small files at once: the body is a tar of them, of 16 MiB at most if it has a digest."""
    stream, n_bytes = request.stream(), _announced(request)
    done = await folderstreams.unpack(parts.platform, caller, name, path, stream, n_bytes, sha256)
    return {"n_files": done.n_files, "size_bytes": done.size_bytes}


@router.post("/folders", response_model=w.EntryBody, status_code=201)
async def make_folder(parts: Wired, caller: Signed, name: str, body: w.NewFolder) -> dict[str, Any]:
    """Make a folder, and those around it."""
    wanted = (body.path, body.is_new, body.numbered)
    return w.entry_view(await storagefiles.make_folder(parts.platform, caller, name, *wanted))


@router.post("/move", response_model=w.EntryBody)
async def move(parts: Wired, caller: Signed, name: str, body: w.Relocation) -> dict[str, Any]:
    """Move a file or folder."""
    source, target = FileRef(name, body.source), FileRef(body.target.storage, body.target.path)
    return w.entry_view(await storagefiles.move(parts.platform, caller, source, target, body.replaces))


@router.post("/copy", response_model=w.FolderUse)
async def copy(parts: Wired, caller: Signed, name: str, body: w.Relocation) -> dict[str, Any]:
    """Copy a file, or a folder with all that is in it."""
    source, target = FileRef(name, body.source), FileRef(body.target.storage, body.target.path)
    done = await storagefiles.copy(parts.platform, caller, source, target, body.replaces)
    return {"n_files": done.n_files, "n_folders": done.n_folders, "size_bytes": done.size_bytes}


@router.get("/uploads", response_model=w.Uploads)
async def under_way(parts: Wired, caller: Signed, name: str) -> dict[str, Any]:
    """The caller's uploads that are not finished."""
    found = await uploads.under_way(parts.platform, caller, name)
    return {"items": [w.upload_view(one) for one in found]}


@router.post("/uploads", response_model=w.UploadBody, status_code=201)
async def begin(parts: Wired, caller: Signed, name: str, body: w.NewUpload) -> dict[str, Any]:
    """Begin an upload in pieces."""
    wanted = Wanted(body.path, body.if_exists, body.sha256, body.is_executable, body.fingerprint)
    return w.upload_view(await uploads.begin(parts.platform, caller, name, wanted, body.size_bytes))


@router.get("/uploads/{upload_id}", response_model=w.UploadBody)
async def state(parts: Wired, caller: Signed, name: str, upload_id: str) -> dict[str, Any]:
    """How far an upload is."""
    return w.upload_view(await uploads.state(parts.platform, caller, name, upload_id))


@router.patch("/uploads/{upload_id}", response_model=w.UploadBody)
async def append(
    parts: Wired,
    caller: Signed,
    request: Request,
    name: str,
    upload_id: str,
    offset: Annotated[int, Query(ge=0, description="Where the piece begins: at `done_bytes`.")],
    sha256: Digest = "",
) -> dict[str, Any]:
    """Send the next piece of an upload; it counts when all of it has come."""
    stream = request.stream()
    await uploads.append(parts.platform, caller, name, upload_id, offset, sha256, stream)
    return w.upload_view(await uploads.state(parts.platform, caller, name, upload_id))


@router.post("/uploads/{upload_id}/finish", response_model=w.EntryBody)
async def finish(parts: Wired, caller: Signed, name: str, upload_id: str) -> dict[str, Any]:
    """Make a whole upload a file."""
    return w.entry_view(await uploads.finish(parts.platform, caller, name, upload_id))


@router.delete("/uploads/{upload_id}", status_code=204)
async def cancel(parts: Wired, caller: Signed, name: str, upload_id: str) -> Response:
    """Forget an upload, and what has come of it."""
    await uploads.cancel(parts.platform, caller, name, upload_id)
    return Response(status_code=204)
