"""Everything about the platform itself: health, version, schema, summary, and uploads of code."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import FileResponse, Response

from footplate import __version__
from footplate.domain.errors import InvalidInput
from footplate.domain.jobfile import job_schema
from footplate.domain.kinds import Instant
from footplate.domain.problems import MISSING, Problems
from footplate.domain.resources import NOTHING, total
from footplate.engines.strategies import registry
from footplate.server.auth import SIGNED_IN, Signed, Wired
from footplate.server.routes.queues import show_queue
from footplate.server.shownsettings import shown
from footplate.services import code, history, jobs, queues
from footplate.services.access import require_admin
from footplate.services.history import History
from footplate.wire.body import Text
from footplate.wire.convert import amount, instant
from footplate.wire.platform import (
    Health,
    HistoryBody,
    SettingChange,
    SettingsBody,
    Strategies,
    Summary,
    Upload,
    Version,
)
from footplate.wire.told import told

router = APIRouter(tags=["platform"])

_ARCHIVES = {
    kind: {"schema": {"type": "string", "format": "binary"}}
    for kind in ("application/gzip", "application/zip", "application/x-tar")
}


@router.get("/health", response_model=Health, response_model_exclude_defaults=True)
async def health(parts: Wired) -> dict[str, Any]:
    """Whether the server answers, and whether its disk has room."""
    said = parts.platform.disk.tell()
    return {"status": "disk_low", **told(said)} if said else {"status": "ok"}


@router.get("/version", response_model=Version)
async def version() -> dict[str, str]:
    """The server's version."""
    return {"version": __version__, "api": "v1"}


@router.get("/schema/job")
async def schema() -> dict[str, Any]:
    """The JSON schema of job files."""
    return job_schema()


@router.get("/settings", response_model=SettingsBody)
async def settings(parts: Wired, caller: Signed) -> dict[str, Any]:
    """How the server is set up, for platform admins; what is secret is left out."""
    require_admin(caller, "look_at_settings")
    told = parts.live.current
    return {
        "version": __version__,
        "home": str(told.home),
        "url": told.url,
        "database": parts.platform.store.database_kind,
        "file": str(told.home / "settings.toml"),
        "items": list(shown(told, parts.live.can_change)),
    }


@router.put("/settings/{name}", status_code=204)
async def change_setting(parts: Wired, caller: Signed, name: str, body: SettingChange) -> Response:
    """Change a setting while the server runs (admin); only those that `is_live` says can be."""
    await parts.live.change(parts.platform, caller, name, {name: body.value})
    return Response(status_code=204)


@router.delete("/settings/{name}", status_code=204)
async def reset_setting(parts: Wired, caller: Signed, name: str) -> Response:
    """Give a setting its default again (admin)."""
    await parts.live.change(parts.platform, caller, name, {})
    return Response(status_code=204)


@router.get("/strategies", response_model=Strategies, dependencies=[SIGNED_IN])
async def strategies() -> dict[str, Any]:
    """The ways to start a distributed training that a job may name, plug-ins included."""
    return {"items": [{"name": name, "description": text} for name, text in registry.known().items()]}


@router.get("/summary", response_model=Summary)
async def summary(
    parts: Wired,
    caller: Signed,
    since: Annotated[
        Text | None, Query(max_length=64, description="When today began; midnight UTC when absent.")
    ] = None,
) -> dict[str, Any]:
    """The platform at a glance."""
    now = parts.platform.clock.now()
    counts = await jobs.counts(parts.platform, caller, _day_begin(since, now))
    uses = queues.node_uses(parts.platform)
    return {
        "trash_kept_s": parts.live.current.trash_kept_s,
        "jobs": counts.active,
        "finished_today": counts.finished_today,
        "resources": {
            "total": amount(total(use.node.capacity for use in uses)),
            "used": amount(total(use.used for use in uses) if uses else NOTHING),
        },
        "queues": [show_queue(use) for use in queues.all_visible(parts.platform, caller)],
    }


@router.get("/summary/history", response_model=HistoryBody, dependencies=[SIGNED_IN])
async def usage_history(parts: Wired) -> dict[str, Any]:
    """How much of the machines jobs held in the last 24 hours, in steps of 15 minutes."""
    found = await history.last_day(parts.platform)
    uses = queues.node_uses(parts.platform)
    return {
        "begin_at": instant(found.begin_at),
        "step_s": found.step_s,
        "points": [_use_point(found, index) for index in range(len(found.uses))],
        "total": amount(total(use.node.capacity for use in uses)),
    }


def _use_point(found: History, index: int) -> dict[str, float] | None:
    end_at = found.begin_at + (index + 1) * found.step_s
    if found.counted_from is not None and end_at <= found.counted_from:
        return None
    use = found.uses[index]
    return {"cpus": use.cpus, "memory_bytes": use.memory_bytes, "gpus": use.gpus}


def _day_begin(since: str | None, now: float) -> float:
    if since is None:
        return now - now % 86400
    at = Instant().read(since, "since", Problems())
    # Somebody's today begins within a day or so, and no call counts a whole history.
    if at is MISSING or abs(now - float(at)) > 2 * 86400:
        raise InvalidInput("not_since_recent", "since")
    return float(at)


@router.post(
    "/code",
    status_code=201,
    response_model=Upload,
    openapi_extra={"requestBody": {"required": True, "content": _ARCHIVES}},
)
async def upload(
    request: Request,
    parts: Wired,
    caller: Signed,
    digest: Annotated[str, Header(alias="X-Content-SHA256", max_length=71)] = "",
    base: Annotated[
        str,
        Query(
            max_length=71,
            description="Code that is there already: the archive then has only what has changed since, and a "
            "file `.footplate-removed` with a JSON list of what is gone.",
        ),
    ] = "",
) -> dict[str, Any]:
    """Send code as a tar or zip archive; jobs refer to it by the digest in the answer."""
    parts.platform.disk.require_room(caller.name)
    if base:
        name, size_bytes = await code.patch(parts.platform, caller, base, request.stream())
    else:
        name, size_bytes = await parts.platform.blobs.save(request.stream(), digest)
        await code.note(parts.platform, caller, name)
    return {"upload": name, "size_bytes": size_bytes}


@router.get("/code/{digest}", response_class=FileResponse)
async def fetch_code(parts: Wired, caller: Signed, digest: str) -> FileResponse:
    """Fetch uploaded code as it was sent; a job's token fetches the code of that job."""
    path = await code.locate(parts.platform, caller, digest)
    # What a digest names never changes.
    headers = {"Cache-Control": "private, max-age=31536000, immutable", "ETag": f'"{digest}"'}
    return FileResponse(path, media_type="application/octet-stream", headers=headers)


@router.head("/code/{digest}")
async def has_upload(parts: Wired, caller: Signed, digest: str) -> Response:
    """Whether an upload is there already, for the caller."""
    return Response(status_code=200 if await code.may_use(parts.platform, caller, digest) else 404)
