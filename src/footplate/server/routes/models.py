"""Models and inference environments over REST."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, Response, StreamingResponse

from footplate.domain.errors import InvalidInput
from footplate.domain.model import LATEST, About
from footplate.server.auth import SIGNED_IN, Signed, Wired
from footplate.services import inference, modelaccess, modelintake, models, registering
from footplate.services.access import Caller
from footplate.services.modeldownloads import archive, locate
from footplate.services.models import Listed
from footplate.services.registering import Registration
from footplate.store.model_queries import ModelFilter
from footplate.wire import models as w
from footplate.wire.body import Text

router = APIRouter(tags=["models"])

MEDIA_TYPE = "application/octet-stream"
ForGood = Annotated[bool, Query(description="Not into the trash: it goes now.")]
InnerPath = Annotated[Text, Query(max_length=1024, description="A file of it; absent: its only one.")]


@router.get("/models", response_model=w.Models)
async def page(
    parts: Wired,
    caller: Signed,
    search: Annotated[Text, Query(max_length=255, description="Part of name, description or tags.")] = "",
    owner: Annotated[Text, Query(max_length=255)] = "",
    tag: Annotated[Text, Query(max_length=63)] = "",
    job: Annotated[Text, Query(max_length=12, description="Models with a version from this job.")] = "",
    trash: Annotated[bool, Query(description="Those in the trash instead of the others.")] = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    page_token: Annotated[str, Query(max_length=1024)] = "",
) -> dict[str, Any]:
    """Models that the caller may see, the last that changed first."""
    wanted = ModelFilter(caller.name, None, search, owner, tag, job, trash)
    found = await models.page(parts.platform, caller, wanted, _after(page_token), limit + 1)
    more = found[limit - 1].model if len(found) > limit else None
    token = None if more is None else _token(more.updated_at, more.id)
    return {"items": [_show(one, caller) for one in found[:limit]], "next_page_token": token}


def _token(updated_at: float, model_id: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([updated_at, model_id]).encode()).decode()


def _after(token: str) -> tuple[float, str] | None:
    if not token:
        return None
    try:
        updated_at, model_id = json.loads(base64.urlsafe_b64decode(token.encode()))
        return float(updated_at), str(model_id)
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise InvalidInput("not_page_token", "page_token") from None


def _show(one: Listed, caller: Caller) -> dict[str, Any]:
    may_change = modelaccess.may_change(caller, one.model)
    return w.model_view(one.model, one.latest, one.n_versions, one.size_bytes, may_change)


@router.post("/models", response_model=w.VersionBody, status_code=201)
async def register(parts: Wired, caller: Signed, body: w.NewVersion) -> dict[str, Any]:
    """Register a version: of a new model, or the next one of a model of the caller's."""
    wanted = Registration(
        body.name, _source(body), About(**w.said_of(body)), tuple(body.aliases), body.shared
    )
    made = await registering.register(parts.platform, caller, wanted)
    assert made is not None
    return w.version_detail(made[1], made[0])


def _source(body: w.NewVersion) -> modelintake.Source:
    if body.job is not None:
        return modelintake.FromJob(body.job.job, body.job.place, body.job.path)
    if body.storage is not None:
        return modelintake.FromStorage(body.storage.storage, body.storage.path)
    return modelintake.FromUpload(tuple((one.path, one.sha256) for one in body.files or ()))


@router.get("/models/{model}", response_model=w.ModelDetail)
async def show(
    parts: Wired,
    caller: Signed,
    model: Text,
    trash: Annotated[bool, Query(description="With versions that are in the trash.")] = False,
) -> dict[str, Any]:
    """A model, by its ID or name, with its versions, the highest first."""
    listed, versions = await models.show(parts.platform, caller, model, trash)
    items = [w.version_view(one, listed.model) for one in versions]
    return {**_show(listed, caller), "versions": items}


@router.patch("/models/{model}", response_model=w.ModelDetail)
async def edit(parts: Wired, caller: Signed, model: Text, body: w.ModelChange) -> dict[str, Any]:
    """Change name, description, tags, or whether everybody may see it."""
    changed = await models.edit(parts.platform, caller, model, w.changes_of(body))
    return await show(parts, caller, changed.id)


@router.delete("/models/{model}", status_code=204)
async def delete(parts: Wired, caller: Signed, model: Text, for_good: ForGood = False) -> Response:
    """Put a model into the trash, or remove it for good."""
    await models.delete(parts.platform, caller, model, for_good)
    return Response(status_code=204)


@router.post("/models/{model}/restore", response_model=w.ModelDetail)
async def restore(parts: Wired, caller: Signed, model: Text) -> dict[str, Any]:
    """Take a model out of the trash, by its ID."""
    restored = await models.restore(parts.platform, caller, model)
    return await show(parts, caller, restored.id)


@router.put("/models/{model}/aliases/{alias}", response_model=w.ModelDetail)
async def set_alias(
    parts: Wired, caller: Signed, model: Text, alias: w.Alias, body: w.AliasChange
) -> dict[str, Any]:
    """Let an alias name a version; it leaves the version that had it before."""
    changed = await models.set_alias(parts.platform, caller, model, alias, body.version)
    return await show(parts, caller, changed.id)


@router.delete("/models/{model}/aliases/{alias}", response_model=w.ModelDetail)
async def remove_alias(parts: Wired, caller: Signed, model: Text, alias: Text) -> dict[str, Any]:
    """Take an alias away."""
    changed = await models.remove_alias(parts.platform, caller, model, alias)
    return await show(parts, caller, changed.id)


@router.get("/models/{model}/compare", response_model=w.ComparisonBody)
async def compare(
    parts: Wired,
    caller: Signed,
    model: Text,
    first: Annotated[Text, Query(max_length=63, description="A number or an alias.")],
    second: Annotated[Text, Query(max_length=63)] = LATEST,
) -> dict[str, Any]:
    """What two versions differ in."""
    found = await modelaccess.find(parts.platform, caller, model)
    one, other, compared = await models.compared(parts.platform, caller, found.id, first, second)
    return w.comparison_view(one, other, found, compared)


@router.get("/models/{model}/versions/{version}", response_model=w.VersionBody)
async def show_version(parts: Wired, caller: Signed, model: Text, version: Text) -> dict[str, Any]:
    """One version, by its number or an alias (`latest` is the highest), with its files."""
    found, one = await modelaccess.find_version(parts.platform, caller, model, version)
    return w.version_detail(one, found)


@router.patch("/models/{model}/versions/{version}", response_model=w.VersionBody)
async def edit_version(
    parts: Wired, caller: Signed, model: Text, version: Text, body: w.AboutChange
) -> dict[str, Any]:
    """Change what is said of a version; its files never change."""
    found, one = await models.edit_version(parts.platform, caller, model, version, w.said_of(body))
    return w.version_detail(one, found)


@router.delete("/models/{model}/versions/{version}", status_code=204)
async def delete_version(
    parts: Wired, caller: Signed, model: Text, version: Text, for_good: ForGood = False
) -> Response:
    """Put a version into the trash, or remove it for good."""
    await models.delete_version(parts.platform, caller, model, version, for_good)
    return Response(status_code=204)


@router.post("/models/{model}/versions/{version}/restore", response_model=w.VersionBody)
async def restore_version(parts: Wired, caller: Signed, model: Text, version: Text) -> dict[str, Any]:
    """Take a version out of the trash."""
    restored = await models.restore_version(parts.platform, caller, model, version)
    return await show_version(parts, caller, restored.model_id, str(restored.number))


@router.get(
    "/models/{model}/versions/{version}/content",
    response_class=FileResponse,
    responses={200: {"content": {MEDIA_TYPE: {}}, "description": "The file, or a range of it."}},
)
async def content(
    parts: Wired, caller: Signed, model: Text, version: Text, path: InnerPath = ""
) -> FileResponse:
    """One file of a version."""
    file, place = await locate(parts.platform, caller, model, version, path)
    headers = {
        "X-Content-SHA256": file.sha256,
        "X-Content-Type-Options": "nosniff",
        "ETag": f'"{file.sha256}"',
    }
    name = file.path.rpartition("/")[2]
    return FileResponse(place, media_type=MEDIA_TYPE, headers=headers, filename=name)


@router.get(
    "/models/{model}/versions/{version}/archive",
    response_class=Response,
    responses={200: {"content": {"application/gzip": {}}, "description": "A .tar.gz archive."}},
)
async def whole(parts: Wired, caller: Signed, model: Text, version: Text) -> Response:
    """All files of a version."""
    name, chunks = await archive(parts.platform, caller, model, version)
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}.tar.gz"}
    return StreamingResponse(chunks, media_type="application/gzip", headers=headers)


@router.put("/model-contents/{sha256}", response_model=w.ContentBody, status_code=201)
async def send(parts: Wired, caller: Signed, request: Request, sha256: w.Sha256) -> dict[str, Any]:
    """Send the content of a file, to be registered by its digest: the body is the file."""
    given = request.headers.get("content-length", "")
    n_bytes = int(given) if given.isdecimal() and len(given) < 18 else 0
    found = await modelintake.receive(parts.platform, caller, sha256, request.stream(), n_bytes)
    return {"sha256": found.sha256, "size_bytes": found.size_bytes}


@router.post("/model-contents/{sha256}", response_model=w.ContentBody, status_code=201)
async def take_upload(
    parts: Wired, caller: Signed, sha256: w.Sha256, body: w.UploadedContent
) -> dict[str, Any]:
    """Take the content of a file from an upload in pieces, which can be resumed, instead of the body."""
    found = await modelintake.receive_upload(parts.platform, caller, sha256, body.storage, body.upload)
    return {"sha256": found.sha256, "size_bytes": found.size_bytes}


@router.head("/model-contents/{sha256}")
async def has(parts: Wired, caller: Signed, sha256: Text) -> Response:
    """Whether a content is there already, for the caller."""
    is_here = parts.platform.models.path(sha256) is not None
    may_use = is_here and await modelintake.may_use(parts.platform, caller, sha256)
    return Response(status_code=200 if may_use else 404)


@router.get("/inference-environments", response_model=w.InferenceEnvironments, dependencies=[SIGNED_IN])
async def environments(parts: Wired) -> dict[str, Any]:
    """The environments that models can be served in, as admins list them."""
    return {"items": [w.inference_view(one) for one in await inference.all_environments(parts.platform)]}


@router.put("/inference-environments/{name}", response_model=w.InferenceBody)
async def put_environment(
    parts: Wired, caller: Signed, name: w.ModelName, body: w.InferenceChange
) -> dict[str, Any]:
    """Add an inference environment, or change it."""
    fields = body.model_dump(exclude_none=True)
    return w.inference_view(await inference.put(parts.platform, caller, name, fields))


@router.delete("/inference-environments/{name}", status_code=204)
async def remove_environment(parts: Wired, caller: Signed, name: Text) -> Response:
    """Take an inference environment out of the catalogue; models keep what they say."""
    await inference.remove(parts.platform, caller, name)
    return Response(status_code=204)
