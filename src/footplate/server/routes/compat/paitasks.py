"""Tasks of OpenPAI's jobs: their attempts, and links to their logs that need no token."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from footplate.dialects.pai import views
from footplate.domain.job import Job, Task
from footplate.server.auth import Wired
from footplate.server.parts import Parts
from footplate.server.ranges import send_log
from footplate.server.routes.compat.paiedge import BAD_TOKEN, Anyone, PaiRoute, Refused, Who
from footplate.server.routes.compat.paijobs import found, in_attempt, ways_into
from footplate.services import logs

router = APIRouter(route_class=PaiRoute)
TAIL_BYTES = 16 * 1024
LINK_S = 3600
_TASK = "/v2/jobs/{framework}/attempts/{attempt}/taskRoles/{role}/taskIndex/{index}/attempts"


async def _task(
    parts: Parts, who: Who, framework: str, attempt: str, role: str, index: str
) -> tuple[Job, Task]:
    job = await in_attempt(parts, who, await found(parts, who, framework), attempt)
    names = views.role_names(job)
    for task in job.tasks:
        if str(task.index) == index and role in (task.role, names[task.role]):
            return job, task
    raise Refused(404, "NoTaskError", f"Task {role[:64]}[{index[:20]}] of job {framework} is not found.")


@router.get(_TASK)
async def attempts(
    parts: Wired, who: Anyone, framework: str, attempt: str, role: str, index: str
) -> Response:
    job, task = await _task(parts, who, framework, attempt, role, index)
    return JSONResponse(views.task_detail(job, task, ways_into(parts, job)))


@router.get(_TASK + "/{run}/logs")
async def locations(
    request: Request, parts: Wired, who: Anyone, framework: str, attempt: str, role: str, index: str, run: str
) -> Response:
    job, task = await _task(parts, who, framework, attempt, role, index)
    if not run.isdigit() or int(run) > task.run or task.started_at is None:
        raise Refused(404, "NoTaskLogError", f"Log of task {task.name} of job {framework} is not found.")
    asked = request.query_params
    is_tail = "true" in (asked.get("tail-mode"), asked.get("tailMode"))
    path = request.url.path + "/content"
    until = int(parts.platform.clock.now()) + LINK_S
    claims = {"job": job.id, "attempt": job.attempt, "task": task.name, "tail": is_tail, "exp": until}
    uri = f"{path}?token={parts.web_tokens.sign(claims)}"
    # Tasks print into one log.
    return JSONResponse({"locations": [{"name": name, "uri": uri} for name in ("stdout", "all")]})


@router.get(_TASK + "/{run}/logs/content")
async def content(request: Request, parts: Wired, token: str = "") -> Response:
    """A log, for whoever has the link: it says which one, and until when."""
    claims = parts.web_tokens.claims(token)
    if claims.get("exp", 0) <= parts.platform.clock.now() or "task" not in claims:
        raise Refused(401, "UnauthorizedUserError", BAD_TOKEN)
    job = await parts.platform.store.job(str(claims["job"]))
    if job is None:
        raise Refused(404, "NoTaskLogError", "The job is gone.")
    mask = await parts.platform.mask_of(job)
    log = logs.log_of(parts.platform, job, str(claims["task"]), int(claims["attempt"]), mask)
    if not claims.get("tail"):
        return send_log(request, log, {})

    def read_tail() -> bytes:
        return bytes(log.read(max(0, log.size - TAIL_BYTES), TAIL_BYTES).data)

    return Response(await asyncio.to_thread(read_tail), media_type="text/plain; charset=utf-8")
