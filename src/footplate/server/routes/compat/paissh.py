"""SSH into the tasks of OpenPAI's jobs: where, and with a key that a link leads to."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from footplate.dialects.pai import views
from footplate.domain.job import Job
from footplate.server.auth import Wired
from footplate.server.parts import Parts
from footplate.server.routes.compat.paiedge import BAD_TOKEN, PREFIX, Anyone, PaiRoute, Reader, Refused, Who
from footplate.server.routes.compat.paijobs import find, found, ways_into
from footplate.services import sshkeys
from footplate.services.access import may_touch

router = APIRouter(route_class=PaiRoute)
LINK_S = 3600


@router.get("/v2/jobs/{framework}/ssh")
async def ssh(parts: Wired, who: Anyone, framework: str) -> Response:
    return _told(parts, who, await found(parts, who, framework))


@router.get("/v1/jobs/{framework}/ssh")
async def ssh_by_framework(parts: Wired, who: Reader, framework: str) -> Response:
    return _told(parts, who, await found(parts, who, framework))


@router.get("/v1/user/{user}/jobs/{job}/ssh")
async def ssh_v1(parts: Wired, who: Reader, user: str, job: str) -> Response:
    return _told(parts, who, await find(parts, who, user, job))


def _told(parts: Parts, who: Who, job: Job) -> Response:
    ways = ways_into(parts, job)
    if not ways:
        raise Refused(404, "NoJobSshInfoError", f"SSH info of job {job.owner}~{job.spec.name} is not found.")
    return JSONResponse(views.ssh_view(job, ways, _link(parts, who, job)))


def _link(parts: Parts, who: Who, job: Job) -> str:
    """The address of a key for the caller; none for whoever may not enter, or is nobody."""
    if not who.name or who.caller.job_id is not None or not may_touch(who.caller, job):
        return ""
    until = int(parts.platform.clock.now()) + LINK_S
    token = parts.web_tokens.sign({"ssh": job.id, "for": who.name, "exp": until})
    return f"{parts.settings.url}{PREFIX}/api/v2/ssh/key?token={token}"


@router.get("/v2/ssh/key")
async def key(parts: Wired, token: str = "") -> Response:
    """A new key for one job, for whoever has the link; the one before becomes worthless."""
    claims = parts.web_tokens.claims(token)
    if "ssh" not in claims or claims.get("exp", 0) <= parts.platform.clock.now():
        raise Refused(401, "UnauthorizedUserError", BAD_TOKEN)
    caller = await parts.accounts.caller_named(str(claims["for"]))
    private = await sshkeys.hand_out(parts.platform, caller, str(claims["ssh"]))
    return PlainTextResponse(private, headers={"Cache-Control": "no-store"})
