"""Jobs of OpenPAI: submitted, listed, shown, stopped and tagged, in the words of both its versions."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from footplate.dialects.pai import v1, v2, views, write
from footplate.dialects.pai.v2 import PRIORITIES
from footplate.dialects.translation import Translation
from footplate.domain.errors import Conflict, InvalidInput, NotFound
from footplate.domain.job import Job
from footplate.domain.kinds import show_instant
from footplate.domain.listing import JobLine
from footplate.server.auth import Wired
from footplate.server.parts import Parts
from footplate.server.routes.compat.paiedge import (
    Anyone,
    PaiRoute,
    Reader,
    Refused,
    Who,
    no_job,
    parse_form,
    read_fields,
    said,
    told,
)
from footplate.services import endings, events, jobs, storages, translating
from footplate.services.access import reach_of, visible_queues
from footplate.services.outlines import seen
from footplate.store import job_queries, job_slices
from footplate.store.job_queries import Filter
from footplate.store.job_slices import Slice

router = APIRouter(route_class=PaiRoute)
MOST_LISTED, LISTED = 50_000, 5000
MOST_EVENTS = 1000
_ORDERS = {
    "jobName": "name",
    "submissionTime": "submitted_at",
    "username": "owner",
    "vc": "queue",
    "retries": "retries",
    "totalTaskNumber": "n_tasks",
    "totalGpuNumber": "gpus",
    "state": "state",
    "completionTime": "finished_at",
    "jobPriority": "priority",
}


# Which job


async def find(parts: Parts, who: Who, owner: str, name: str, reads: bool = True) -> Job:
    """The job of this owner and name, as far as the caller may know of it."""
    wanted = await parts.platform.store.read(
        lambda connection: job_queries.id_of_name(connection, owner, name)
    )
    if wanted is None:
        raise no_job(owner, name)
    try:
        look = jobs.inspect if reads else jobs.find
        return await look(parts.platform, who.caller, wanted)
    except NotFound:
        raise no_job(owner, name) from None


def split(framework: str) -> tuple[str, str]:
    owner, tilde, name = framework.partition("~")
    if not tilde:
        raise Refused(404, "NoJobError", f"Job {framework[:255]} is not found.")
    return owner, name


async def found(parts: Parts, who: Who, framework: str, reads: bool = True) -> Job:
    return await find(parts, who, *split(framework), reads=reads)


async def in_attempt(parts: Parts, who: Who, job: Job, number: str) -> Job:
    """The job as it was in an attempt."""
    if number.isdigit() and int(number) == job.attempt:
        return job
    for attempt in await jobs.attempts(parts.platform, who.caller, job.id):
        if str(attempt.number) == number:
            return replace(
                job,
                attempt=attempt.number,
                state=attempt.state,
                reason=attempt.reason,
                tasks=attempt.tasks,
                started_at=attempt.started_at,
                running_at=attempt.running_at,
                finished_at=attempt.finished_at,
            )
    raise Refused(
        404, "NoJobError", f"Attempt {number[:20]} of job {job.owner}~{job.spec.name} is not found."
    )


def ways_into(parts: Parts, job: Job) -> views.Ways:
    """Where people come into the tasks of a job by SSH."""
    gateway = parts.ssh
    if gateway is None:
        return views.NO_WAYS
    return {task: (gateway.host, port) for task, port in gateway.of_tasks.of(job).items()}


# Submitting


@router.post("/v2/jobs")
async def submit(request: Request, parts: Wired, who: Anyone) -> Response:
    text = await request.body()
    try:
        made = await asyncio.to_thread(v2.translate, text.decode("utf-8", "replace"))
    except InvalidInput as error:
        raise Refused(400, "InvalidProtocolError", error.message) from None
    await send(parts, who, made, "InvalidProtocolError")
    return said(
        f"Update job {made.document['name']} for user {who.name} successfully.", 202, with_status=True
    )


async def send(parts: Parts, who: Who, made: Translation, code: str) -> None:
    """Submit a translated job; what is refused is refused in the order of the original."""
    name = str(made.document["name"])
    taken = await parts.platform.store.read(
        lambda connection: job_queries.id_of_name(connection, who.name, name)
    )
    if taken is not None:
        raise Refused(409, "ConflictJobError", f"Job {who.name}~{name} already exists.")
    queue = str(made.document.get("queue", "default"))
    if queue in parts.platform.cluster.queues and who.caller.rank_in(queue) == 0:
        message = f"User {who.name} is not allowed to do operation in {queue}"
        raise Refused(403, "ForbiddenUserError", message)
    usable = {storage.name for storage, _ in storages.all_usable(parts.platform, who.caller)}
    for data in made.document.get("data", ()):
        if data["storage"] not in usable:
            raise Refused(404, "NoStorageError", f"Storage {data['storage']} is not found.")
    try:
        await translating.submit(parts.platform, who.caller, made, {})
    except InvalidInput as error:
        refused = told(error)
        raise Refused(
            refused.status, code if refused.code == "InvalidParametersError" else refused.code, error.message
        ) from None
    except NotFound as error:
        raise Refused(400, "NoVirtualClusterError", error.message) from None


@router.post("/v1/user/{user}/jobs")
@router.post("/v1/jobs")
@router.put("/v1/user/{user}/jobs/{job}")
@router.put("/v1/jobs/{job}")
async def submit_v1(
    request: Request, parts: Wired, who: Anyone, user: str | None = None, job: str | None = None
) -> Response:
    if user not in (None, who.name):
        raise Refused(403, "ForbiddenUserError", f"User {who.name} is not allowed to submit for {user}")
    body = await request.body()
    made = await asyncio.to_thread(_read_v1, request.headers.get("content-type", ""), body, job)
    await send(parts, who, made, "InvalidParametersError")
    name = made.document["name"]
    answer = said(f"update job {name} successfully", 202)
    answer.headers["Location"] = f"/api/v1/user/{who.name}/jobs/{name}"
    if any(one.params.get("field") == "killAllOnCompletedTaskNumber" for one in made.lost):
        answer.headers["X-Warning"] = "killAllOnCompletedTaskNumber is obsolete, ignored"
    return answer


def _read_v1(kind: str, body: bytes, job: str | None) -> Translation:
    if kind.startswith("application/x-www-form-urlencoded"):
        document = _without_nothing(parse_form(body))
        text = json.dumps(document, indent=2, ensure_ascii=False)
    else:
        text = body.decode("utf-8", "replace")
        document = v1.read(text)
    if job is not None and isinstance(document, dict):
        document = {"jobName": job.rpartition("~")[2], **document}
    return v1.translate_document(document, text)


def _without_nothing(value: Any, is_variables: bool = False) -> Any:
    """A form says nothing as an empty text; only a variable may be one."""
    if isinstance(value, dict):
        return {
            name: _without_nothing(item, name == "jobEnvs")
            for name, item in value.items()
            if item != "" or is_variables
        }
    return [_without_nothing(item) for item in value] if isinstance(value, list) else value


# Lists


@router.get("/v2/jobs")
async def listed(request: Request, parts: Wired, who: Anyone) -> Response:
    query = request.query_params
    wanted, part = _wanted(query), _part(query)
    lines = await _lines(parts, who, wanted, part) if wanted is not None else []
    if query.get("withTotalCount") != "true":
        return JSONResponse(lines)
    total = 0 if wanted is None else await _total(parts, who, wanted, part)
    return JSONResponse({"totalCount": total, "data": lines})


def _several(query: Any, name: str) -> list[str]:
    return [one for one in query.get(name, "").split(",") if one][:100]


def _wanted(query: Any) -> Filter | None:
    """What is asked for; None where nothing can be."""
    names = _several(query, "state")
    states = [state for name in names for state in views.STATES_BY_NAME.get(name.upper(), ())]
    if names and not states:
        return None
    return Filter("", None, _several(query, "vc"), _several(query, "username"), states)


def _part(query: Any) -> Slice:
    field, _, direction = query.get("order", "").partition(",")
    known = field in _ORDERS and direction in ("ASC", "DESC")
    classes = {**PRIORITIES, "default": 0}
    return Slice(
        order=_ORDERS[field] if known else "submitted_at",
        is_descending=direction == "DESC" if known else True,
        offset=_number(query, "offset", 0, 2**31),
        limit=_number(query, "limit", LISTED, MOST_LISTED),
        tags=_several(query, "tagsContain"),
        without=_several(query, "tagsNotContain"),
        keyword=query.get("keyword", "")[:255],
        priorities=[classes[one] for one in _several(query, "jobPriority") if one in classes],
    )


def _number(query: Any, name: str, default: int, most: int) -> int:
    given = query.get(name)
    if given is None:
        return default
    if not re.fullmatch(r"\d{1,12}", given) or int(given) > most:
        raise Refused(
            400, "InvalidParametersError", f"{name} must be a number up to {most}, not {given[:40]}"
        )
    return int(given)


async def _lines(parts: Parts, who: Who, wanted: Filter, part: Slice, is_v1: bool = False) -> list[Any]:
    allowed = _allowed(parts, who, wanted)
    board = parts.platform.store.board

    def read(connection: sa.Connection) -> tuple[list[JobLine], dict[str, int]]:
        lines = job_slices.read(connection, allowed, part)
        over = [line.id for line in lines if line.n_tasks > 1 and line.id not in board]
        return lines, {} if is_v1 else job_slices.n_roles(connection, over)

    def n_roles(line: JobLine) -> int:
        return len(board[line.id].spec.roles) if line.id in board else n_of_roles.get(line.id, 1)

    lines, n_of_roles = await parts.platform.store.read(read)
    return [views.summary(seen(parts.platform, who.caller, line), n_roles(line), is_v1) for line in lines]


async def _total(parts: Parts, who: Who, wanted: Filter, part: Slice) -> int:
    allowed = _allowed(parts, who, wanted)
    return await parts.platform.store.read(lambda connection: job_slices.count(connection, allowed, part))


def _allowed(parts: Parts, who: Who, wanted: Filter) -> Filter:
    caller = who.caller
    return replace(
        wanted,
        caller=caller.name,
        visible_queues=visible_queues(caller),
        reach=reach_of(caller, parts.platform.cluster.queues),
    )


@router.get("/v1/jobs")
@router.get("/v1/user/{user}/jobs")
async def listed_v1(request: Request, parts: Wired, who: Reader, user: str = "") -> Response:
    owner = user or request.query_params.get("username", "")
    wanted = Filter("", owners=[owner] if owner else [])
    return JSONResponse(await _lines(parts, who, wanted, Slice(), is_v1=True))


# One job


@router.get("/v2/jobs/{framework}")
async def detail(parts: Wired, who: Anyone, framework: str) -> Response:
    job = await found(parts, who, framework)
    return JSONResponse(views.detail(job, ways=ways_into(parts, job)))


@router.get("/v2/jobs/{framework}/attempts/{attempt}")
async def attempt_detail(parts: Wired, who: Anyone, framework: str, attempt: str) -> Response:
    job = await in_attempt(parts, who, await found(parts, who, framework), attempt)
    return JSONResponse(views.detail(job, ways=ways_into(parts, job)))


@router.get("/v1/jobs/{framework}")
async def detail_by_framework(parts: Wired, who: Reader, framework: str) -> Response:
    return _detail_v1(parts, await found(parts, who, framework))


@router.get("/v1/user/{user}/jobs/{job}")
async def detail_v1(parts: Wired, who: Reader, user: str, job: str) -> Response:
    return _detail_v1(parts, await find(parts, who, user, job))


def _detail_v1(parts: Parts, job: Job) -> Response:
    return JSONResponse(views.detail(job, is_v1=True, ways=ways_into(parts, job)))


@router.get("/v2/jobs/{framework}/config")
async def config(parts: Wired, who: Anyone, framework: str) -> Response:
    if framework == "protocolversion":
        # Clients find out by this which versions there are.
        raise Refused(404, "NoJobError", "Job protocolversion is not found.")
    text = await _config(parts, who, await found(parts, who, framework), v2.NAME)
    return PlainTextResponse(text, media_type="text/yaml")


async def _config(parts: Parts, who: Who, job: Job, dialect: str) -> str:
    """The text that a job was submitted with, or one that says the same."""
    try:
        original = await jobs.original(parts.platform, who.caller, job.id)
        if original.dialect == dialect:
            return original.text
    except NotFound:
        pass
    to = write.write_v2 if dialect == v2.NAME else write.write_v1
    return to(job.spec, masked=True).text


@router.get("/v1/user/{user}/jobs/{job}/config")
@router.get("/v1/jobs/{user}/jobs/{job}/config")
async def config_v1(request: Request, parts: Wired, who: Reader, user: str, job: str) -> Response:
    known = await find(parts, who, user, job)
    if "yaml" in request.headers.get("accept", ""):
        return PlainTextResponse(await _config(parts, who, known, v2.NAME), media_type="text/yaml")
    return Response(await _config(parts, who, known, v1.NAME), media_type="application/json")


@router.get("/v1/jobs/{framework}/config")
async def config_by_framework(request: Request, parts: Wired, who: Reader, framework: str) -> Response:
    return await config_v1(request, parts, who, *split(framework))


# Changes


@router.put("/v2/jobs/{framework}/executionType")
@router.put("/v1/jobs/{framework}/executionType")
async def execute(request: Request, parts: Wired, who: Anyone, framework: str) -> Response:
    value = (await read_fields(request)).get("value")
    if value not in ("START", "STOP"):
        raise Refused(400, "InvalidParametersError", 'child "value" fails: it must be one of [START, STOP]')
    job = await found(parts, who, framework, reads=False)
    if value == "STOP" and not job.state.is_final:
        # It may have ended just now.
        with suppress(Conflict):
            await endings.stop(parts.platform, who.caller, job.id)
    elif who.name != job.owner and not who.caller.is_admin:
        raise Refused(
            403, "ForbiddenUserError", f"User {who.name} is not allowed to execute job {framework}."
        )
    return said(f"Execute job {framework} successfully.", 202, with_status=True)


@router.put("/v1/user/{user}/jobs/{job}/executionType")
async def execute_v1(request: Request, parts: Wired, who: Anyone, user: str, job: str) -> Response:
    return await execute(request, parts, who, f"{user}~{job}")


@router.delete("/v1/user/{user}/jobs/{job}")
async def delete(parts: Wired, who: Anyone, user: str, job: str) -> Response:
    known = await find(parts, who, user, job, reads=False)
    await endings.delete(parts.platform, who.caller, known.id)
    return said(f"deleted job {user}~{job} successfully", 202)


async def _tag_in(request: Request) -> str:
    value = (await read_fields(request)).get("value")
    if not isinstance(value, str) or not value or "," in value or len(value) > 63:
        raise Refused(400, "InvalidParametersError", 'child "value" fails: a tag without commas is required')
    return value


@router.put("/v2/jobs/{framework}/tag")
async def add_tag(request: Request, parts: Wired, who: Anyone, framework: str) -> Response:
    tag = await _tag_in(request)
    job = await found(parts, who, framework, reads=False)
    await jobs.tag(parts.platform, who.caller, job.id, lambda tags: [*dict.fromkeys((*tags, tag))])
    return said(f"Add tag {tag} for job {framework} successfully.", with_status=True)


@router.delete("/v2/jobs/{framework}/tag")
async def remove_tag(request: Request, parts: Wired, who: Anyone, framework: str) -> Response:
    tag = await _tag_in(request)
    job = await found(parts, who, framework, reads=False)
    if tag not in job.spec.tags:
        raise Refused(404, "NoTagError", f"Tag {tag} is not found for job {framework}.")
    await jobs.tag(parts.platform, who.caller, job.id, lambda tags: [one for one in tags if one != tag])
    return said(f"Delete tag {tag} from job {framework} successfully.", with_status=True)


# What happened


@router.get("/v2/jobs/{framework}/events")
async def job_events(request: Request, parts: Wired, who: Anyone, framework: str) -> Response:
    wanted = request.query_params.get("type")
    if wanted not in (None, "", "Warning", "Normal"):
        raise Refused(400, "InvalidParametersError", "type must be Warning or Normal")
    job = await found(parts, who, framework)
    records = await events.page(parts.platform, who.caller, 0, MOST_EVENTS, job.id)
    shown = [
        views.event_view(
            job,
            one.seq,
            one.kind,
            show_instant(one.at),
            one.message,
            str(one.data.get("task", "")),
            views.is_warning(one.kind, str(one.data.get("reason", ""))),
        )
        for one in reversed(records)
    ]
    kept = [one for one in shown if not wanted or one["type"] == wanted]
    return JSONResponse({"totalCount": len(kept), "data": kept})


@router.get("/v2/jobs/{framework}/job-attempts/healthz")
async def attempts_healthz(_who: Anyone, framework: str) -> Response:  # noqa: ARG001
    return PlainTextResponse("ok")


@router.get("/v2/jobs/{framework}/job-attempts")
async def job_attempts(parts: Wired, who: Anyone, framework: str) -> Response:
    job = await found(parts, who, framework)
    known = {one.number for one in await jobs.attempts(parts.platform, who.caller, job.id)} | {job.attempt}
    each = [await in_attempt(parts, who, job, str(number)) for number in sorted(known, reverse=True)]
    return JSONResponse([views.attempt_view(one, one.attempt == job.attempt) for one in each])


@router.get("/v2/jobs/{framework}/job-attempts/{attempt}")
async def job_attempt(parts: Wired, who: Anyone, framework: str, attempt: str) -> Response:
    job = await found(parts, who, framework)
    known = await in_attempt(parts, who, job, attempt)
    return JSONResponse(views.attempt_view(known, known.attempt == job.attempt))
