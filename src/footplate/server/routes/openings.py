"""Services of jobs over REST: opened for a browser, listed, and ended."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from footplate.server.auth import Signed, Wired
from footplate.server.proxy.door import opened
from footplate.server.proxy.origins import address_of, browser_address_of
from footplate.services.entering import find_enterable
from footplate.services.openings import Opening
from footplate.services.programs import PROGRAMS
from footplate.wire import openings as w

router = APIRouter(prefix="/jobs/{job_id}/services", tags=["jobs"])


@router.post("", status_code=201, response_model=w.OpenedBody)
async def open_service(parts: Wired, caller: Signed, job_id: str, body: w.OpenService) -> Response:
    """Open a port of a task, or a program that is started there, and get an address for a browser."""
    opening, url = await opened(parts, caller, job_id, body.service, body.task, body.others)
    place = url.removeprefix(address_of(parts.settings, opening.prefix))
    browser_url = f"{browser_address_of(parts.settings, opening.prefix)}{place}"
    return JSONResponse({**_shown(opening), "url": url, "browser_url": browser_url}, 201)


@router.get("", response_model=w.OpeningsBody)
async def list_services(parts: Wired, caller: Signed, job_id: str) -> Response:
    """What is open in a job, and what can be."""
    job = await find_enterable(parts.platform, caller, job_id, "service")
    items = [_shown(one) for one in parts.openings.of(job)]
    return JSONResponse({"items": items, "known": sorted(PROGRAMS)})


@router.delete("/{service}", status_code=204)
async def close_service(parts: Wired, caller: Signed, job_id: str, service: str) -> Response:
    """Close a service; a program that was started for it ends."""
    await parts.openings.close_one(caller, job_id, service)
    return Response(status_code=204)


def _shown(one: Opening) -> dict[str, Any]:
    return {
        "service": one.name,
        "task": "" if one.viewer_id else one.task,
        "port": one.port,
        "is_program": one.name in PROGRAMS,
        "jobs": [job.id for job in one.jobs],
    }
