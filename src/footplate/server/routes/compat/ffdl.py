"""Models of FfDL and Prophecis over REST: submitted, listed, halted, killed, retried, fetched."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.datastructures import UploadFile

from footplate.dialects.ffdl import translate_ffdl, translate_prophecis
from footplate.dialects.ffdl.views import FFDL, PREFIXES, PROPHECIS, STATES, job_id, model, model_id
from footplate.domain.errors import Conflict, FootplateError, InvalidInput, NotFound
from footplate.domain.job import Job
from footplate.server.parts import Parts, parts_of
from footplate.server.routes.compat.ffdlshared import ERROR_BODIES, Expired, FfdlRoute, caller_of, dialect_of
from footplate.services import code, endings, files, jobs, retention, translating
from footplate.services.access import Caller, reach_of, visible_queues
from footplate.services.zipping import zip_code, zip_folder
from footplate.store import job_slices
from footplate.store.job_queries import Filter
from footplate.store.job_slices import Slice
from footplate.wire.documents import load_plain

__all__ = ["ERROR_BODIES", "router"]

router = APIRouter(route_class=FfdlRoute, include_in_schema=False)
ROOTS = ("/v1/models", "/di/v1/models")
MOST_MANIFEST_BYTES = 1024**2
MOST_LISTED = 5000
ZIP = "application/octet-stream"
# Where code lies that was sent by itself, before the manifest that names it.
SENT_BEFORE = "s3://footplate/"


async def _submit(request: Request) -> Response:
    """Queue the job of a manifest, with the code of the archive beside it."""
    parts, caller, dialect = parts_of(request), await caller_of(request), dialect_of(request)
    async with request.form(max_files=4, max_fields=16) as form:
        text = await _manifest(form.get("manifest"))
        translation = translate_ffdl(text) if dialect == FFDL else translate_prophecis(text)
        archive = form.get("model_definition")
        selector, sent_before = _code_in(text)
        if isinstance(archive, UploadFile) and selector == "storagePath":
            raise InvalidInput("ffdl_code_beside_storage", "model_definition")
        overrides: dict[str, Any] = {}
        if isinstance(archive, UploadFile):
            overrides["code"] = {"upload": await _keep(parts, caller, archive)}
        elif sent_before:
            overrides["code"] = {"upload": sent_before}
        elif dialect == FFDL or selector == "codeFile":
            raise InvalidInput("ffdl_code_missing", "model_definition")
    job = (await translating.submit(parts.platform, caller, translation, overrides)).job
    place = PREFIXES[dialect] + model_id(job.id)
    lost = translating.warnings_of(parts.platform, translation, overrides)
    # Their clients pass over what they do not know.
    body = {"model_id": model_id(job.id), "location": place, "warnings": [str(one) for one in lost]}
    return JSONResponse(body, 201, headers={"Location": place})


async def _manifest(part: Any) -> str:
    if isinstance(part, UploadFile):
        content = await part.read(MOST_MANIFEST_BYTES + 1)
    else:
        content = str(part or "").encode()
    if not content or len(content) > MOST_MANIFEST_BYTES:
        raise InvalidInput("ffdl_no_mapping", "manifest")
    return content.decode(errors="replace")


def _code_in(text: str) -> tuple[str, str]:
    """Where a manifest has its code, and the digest of code that was sent before."""
    document = load_plain(text, "manifest")
    if not isinstance(document, Mapping):
        return "", ""
    path = str(document.get("code_path") or "")
    digest = path.removeprefix(SENT_BEFORE) if path.startswith(SENT_BEFORE) else ""
    return str(document.get("code_selector") or ""), digest


async def _upload(request: Request) -> Response:
    """Keep code that a manifest names later, by `code_path`."""
    parts, caller = parts_of(request), await caller_of(request)
    async with request.form(max_files=1, max_fields=4) as form:
        archive = form.get("file")
        if not isinstance(archive, UploadFile):
            raise InvalidInput("required", "file")
        digest = await _keep(parts, caller, archive)
    return JSONResponse({"s3Path": f"{SENT_BEFORE}{digest}"})


async def _keep(parts: Parts, caller: Caller, archive: UploadFile) -> str:
    parts.platform.disk.require_room(caller.name)

    async def chunks() -> AsyncIterator[bytes]:
        while chunk := await archive.read(256 * 1024):
            yield chunk

    digest, _ = await parts.platform.blobs.save(chunks())
    await code.note(parts.platform, caller, digest)
    return digest


async def _list(request: Request) -> Response:
    """The models that the caller may see: with FfDL one's own."""
    parts, caller, dialect = parts_of(request), await caller_of(request), dialect_of(request)
    query = request.query_params
    owner = caller.name if dialect == FFDL else query.get("userid", "")
    if dialect == PROPHECIS and owner and not query.get("namespace"):
        raise InvalidInput("ffdl_namespace_missing", "namespace")
    queues = (query["namespace"],) if query.get("namespace") else ()
    wanted = replace(
        Filter(caller.name, owners=(owner,) if owner else (), queues=queues),
        visible_queues=visible_queues(caller),
        reach=reach_of(caller, parts.platform.cluster.queues),
    )
    size, page = _positive(query.get("size")), _positive(query.get("page"))
    for name in ("page", "size"):
        if dialect == PROPHECIS and query.get(name) and not (size and page):
            raise InvalidInput("out_of_range", name, low=1, high=MOST_LISTED, given=query[name][:20])
    part = Slice(limit=MOST_LISTED, is_readable=True)
    if size and page:
        part = replace(part, offset=(page - 1) * size, limit=min(size, MOST_LISTED))
    read = parts.platform.store.read
    found = await read(lambda connection: job_slices.read_whole(connection, wanted, part))
    body: dict[str, Any] = {"models": [model(job, dialect) for job in found]}
    if dialect == PROPHECIS:
        total = await read(lambda connection: job_slices.count(connection, wanted, part))
        body |= {"total": total, "pages": -(-total // size) if size else 1}
    return JSONResponse(body)


def _positive(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else 0


async def _show(request: Request) -> Response:
    parts, caller, dialect = parts_of(request), await caller_of(request), dialect_of(request)
    job = await jobs.inspect(parts.platform, caller, job_id(request.path_params["model"]))
    return JSONResponse(model(job, dialect, await _manifest_of(parts, caller, job)))


async def _manifest_of(parts: Parts, caller: Caller, job: Job) -> Mapping[str, Any] | None:
    try:
        original = await jobs.original(parts.platform, caller, job.id)
        found = load_plain(original.text, "manifest")
    except FootplateError:
        return None
    return found if isinstance(found, Mapping) else None


async def _halt(request: Request) -> Response:
    """Stop a model and keep what it has; one that is over stays as it is."""
    parts, caller = parts_of(request), await caller_of(request)
    try:
        body = await request.json()
    except ValueError:
        body = None
    if not isinstance(body, Mapping) or body.get("status") != "halt":
        raise InvalidInput("not_a_choice", "status", options=["halt"], given=str(body)[:40])
    given = request.path_params["model"]
    job = await jobs.find(parts.platform, caller, job_id(given))
    with suppress(Conflict):
        await endings.halt(parts.platform, caller, job.id)
    return JSONResponse({"model_id": model_id(job.id)}, 202)


async def _delete(request: Request) -> Response:
    parts, caller = parts_of(request), await caller_of(request)
    job = await endings.delete(parts.platform, caller, job_id(request.path_params["model"]))
    return JSONResponse({"model_id": model_id(job.id)})


async def _kill(request: Request) -> Response:
    parts, caller = parts_of(request), await caller_of(request)
    job = await jobs.find(parts.platform, caller, job_id(request.path_params["model"]))
    if not job.state.is_final:
        await endings.stop(parts.platform, caller, job.id)
    stopped = model_id(job.id)
    return JSONResponse({**_told(stopped), "model_id": stopped, "name": stopped})


async def _retry(request: Request) -> Response:
    parts, caller = parts_of(request), await caller_of(request)
    given = job_id(request.path_params["model"])
    again = await jobs.clone(parts.platform, caller, given, {})
    return _envelope(model_id(again.job.id))


def _envelope(result: Any) -> Response:
    return JSONResponse(_told(result))


def _told(result: Any) -> dict[str, Any]:
    return {"code": "200", "msg": "success", "result": result}


async def _definition(request: Request) -> Response:
    """The code as a ZIP archive, whatever it was sent as."""
    parts, caller = parts_of(request), await caller_of(request)
    job = await jobs.inspect(parts.platform, caller, job_id(request.path_params["model"]))
    return _zipped(zip_code(await _code_path(parts, caller, job)), f"{job.id}-definition")


async def _code_path(parts: Parts, caller: Caller, job: Job) -> Path:
    if job.spec.code is None or not job.spec.code.upload:
        raise NotFound("no_code", job=job.id)
    return await code.locate(parts.platform, caller, job.spec.code.upload)


async def _trained_model(request: Request) -> Response:
    """What the job has made, as a ZIP archive."""
    parts, caller = parts_of(request), await caller_of(request)
    given = job_id(request.path_params["model"])
    try:
        job, folder = await files.folder_of(parts.platform, caller, given, "output")
    except NotFound as error:
        _, _, gone = await retention.sizes_of_job(parts.platform, caller, given)
        if "outputs" not in gone:
            raise
        raise Expired("ffdl_expired", model=model_id(given)) from error
    return _zipped(zip_folder(folder), f"{job.id}-trainedmodel")


async def _export(request: Request) -> Response:
    """The manifest and the code, as Prophecis exports them."""
    parts, caller = parts_of(request), await caller_of(request)
    job = await jobs.inspect(parts.platform, caller, job_id(request.path_params["model"]))
    original = await jobs.original(parts.platform, caller, job.id)
    path = await _code_path(parts, caller, job)
    return _zipped(zip_code(path, "model/", original.text), f"{job.id}-export")


def _zipped(content: AsyncIterator[bytes], name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}.zip"'}
    return StreamingResponse(content, media_type=ZIP, headers=headers)


async def _dashboards(request: Request) -> Response:
    parts, caller = parts_of(request), await caller_of(request)
    lines, _ = await jobs.page(
        parts.platform, caller, Filter(caller.name), "-submitted_at", None, MOST_LISTED
    )
    running = [one for one in lines if STATES[PROPHECIS][one.state] == "RUNNING"]
    gpus = sum(len(node.gpus) for node in parts.platform.cluster.nodes)
    return _envelope({"jobTotal": len(lines), "jobRunning": len(running), "gpuCount": gpus})


async def _health(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _install() -> None:
    for root in ROOTS:
        router.add_api_route(root, _submit, methods=["POST"])
        router.add_api_route(root, _list, methods=["GET"])
        one = f"{root}/{{model}}"
        for method, answer in (("GET", _show), ("PATCH", _halt), ("DELETE", _delete)):
            router.add_api_route(one, answer, methods=[method])
        router.add_api_route(f"{one}/definition", _definition, methods=["GET"])
        router.add_api_route(f"{one}/trained_model", _trained_model, methods=["GET"])
    for path, answer in (("export", _export), ("kill", _kill), ("retry", _retry)):
        router.add_api_route(f"/di/v1/models/{{model}}/{path}", answer, methods=["GET"])
    router.add_api_route("/di/v1/codeUpload", _upload, methods=["POST"])
    router.add_api_route("/di/v1/dashboards", _dashboards, methods=["GET"])
    router.add_api_route("/health", _health, methods=["GET"])


_install()
