"""Jobs over REST."""

from __future__ import annotations

import asyncio
import base64
import json
import math
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse, Response

from footplate.dialects import registry
from footplate.domain.errors import FootplateError, InvalidInput
from footplate.domain.hidden import hidden_values
from footplate.domain.job import Job
from footplate.domain.jobfile import job_schema, show_job
from footplate.domain.listing import line_of
from footplate.domain.redact import redact_within
from footplate.domain.states import JobState, Reason
from footplate.server.auth import Signed, Wired, caller_of
from footplate.server.documents import Asked, read_asked, read_document
from footplate.server.errors import SERVER_FAULT, our_body, refusal_of
from footplate.server.parameters import refuse_unknown
from footplate.server.parts import Parts, parts_of
from footplate.server.plain import PlainRoute
from footplate.services import endings, jobs, results, translating
from footplate.services.access import Caller, may_have_files, may_touch
from footplate.services.outcome import await_state
from footplate.services.outlines import seen
from footplate.store.job_queries import SORTS, Filter
from footplate.wire.accounting import cost_view
from footplate.wire.body import Text
from footplate.wire.convert import (
    amount,
    estimate_view,
    instant,
    job_view,
    line_view,
    reason_view,
    results_view,
    task_views,
)
from footplate.wire.jobs import (
    Attempts,
    DryRun,
    JobChange,
    JobCheck,
    JobDetail,
    Jobs,
    OriginalBody,
    Tasks,
    Translated,
)
from footplate.wire.told import told

router = APIRouter(prefix="/jobs", tags=["jobs"])

_JOB_BODY = {
    "requestBody": {
        "required": True,
        "content": {kind: {"schema": job_schema()} for kind in ("application/json", "application/yaml")},
    }
}
_FOREIGN_BODY = {
    "requestBody": {
        "required": True,
        "description": "A job file of OpenPAI or a batch script of Slurm, as it was written.",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    }
}
_OVERRIDES = {
    "requestBody": {"required": False, "content": {"application/json": {"schema": {"type": "object"}}}}
}
IDEMPOTENCY_KEY = "Idempotency-Key"
HIDDEN_VALUES_OF = "Hidden-Values-Of"
MOST_OF_A_KEY = 255
REMOVAL_S = 10
_KEY_HELP = "Repeating a submit with it makes no second job."
_KEY_PARAMETER = {
    "name": IDEMPOTENCY_KEY,
    "in": "header",
    "required": False,
    "schema": {"type": "string", "maxLength": MOST_OF_A_KEY},
    "description": _KEY_HELP,
}
_ORIGINAL_PARAMETER = {
    "name": HIDDEN_VALUES_OF,
    "in": "header",
    "required": False,
    "schema": {"type": "string", "maxLength": MOST_OF_A_KEY},
    "description": "A job of the caller's whose values are meant where the document has `***`.",
}
_TRIED_BODY = {**_JOB_BODY, "parameters": [_ORIGINAL_PARAMETER]}
_REPEATED: dict[int | str, dict[str, Any]] = {
    200: {
        "model": JobDetail,
        "description": "The idempotency key was used before; this is its job.",
    }
}
IdempotencyKey = Annotated[
    str, Header(alias=IDEMPOTENCY_KEY, max_length=MOST_OF_A_KEY, description=_KEY_HELP)
]
PageSize = Annotated[int, Query(ge=1, le=1000)]


async def show(parts: Parts, caller: Caller, job: Job) -> dict[str, Any]:
    """A job as the caller sees it."""
    is_waiting = job.state is JobState.QUEUED
    waits = (await parts.platform.scheduler.explain([job.id])).get(job.id) if is_waiting else None
    view = _show(parts, caller, job, waits)
    if view["results"] is not None:
        view["results"] = results_view(await results.of(parts.platform, job))
    return view


def _show(parts: Parts, caller: Caller, job: Job, waits: tuple[Reason, int] | None) -> dict[str, Any]:
    can = endings.possible(job, may_touch(caller, job))
    found = seen(parts.platform, caller, line_of(job), waits)
    view = job_view(job, found, parts.platform.clock.now(), can)
    view["config"] = _without_code(view["config"], caller, job)
    return {**view, "warnings": []}


def _without_code(config: dict[str, Any], caller: Caller, job: Job) -> dict[str, Any]:
    """Leave out what tells of the code's content, for those who may not have it."""
    revision = (config.get("code") or {}).get("revision")
    if not revision or may_have_files(caller, job):
        return config
    shown = {name: value for name, value in revision.items() if name != "diff"}
    return {**config, "code": {**config["code"], "revision": shown}}


async def submit(request: Request) -> Response:
    """Submit a job document; the answer comes once the job is stored for good."""
    caller, parts = await caller_of(request), parts_of(request)
    await refuse_unknown(request)
    key = _clean(request.headers.get(IDEMPOTENCY_KEY, ""))
    asked = await read_asked(request)
    submission = await _submit(parts, caller, asked, _original(request), key)
    view = _show(parts, caller, submission.job, None)
    view["warnings"] += _lost(parts, asked)
    headers = {"Location": f"/api/v1/jobs/{submission.job.id}"}
    return JSONResponse(view, 201 if submission.is_new else 200, headers=headers)


async def _submit(parts: Parts, caller: Caller, asked: Asked, original: str, key: str) -> jobs.Submission:
    if asked.translation is not None:
        return await translating.submit(parts.platform, caller, asked.translation, asked.overrides, key)
    document = await jobs.uncover(parts.platform, caller, asked.document, original)
    return await jobs.submit(parts.platform, caller, document, key)


def _lost(parts: Parts, asked: Asked) -> list[dict[str, Any]]:
    if asked.translation is None:
        return []
    said = translating.warnings_of(parts.platform, asked.translation, asked.overrides)
    return [told(one) for one in said]


def _original(request: Request) -> str:
    return request.headers.get(HIDDEN_VALUES_OF, "")[:MOST_OF_A_KEY]


def _clean(key: str) -> str:
    if key and (not key.isprintable() or len(key) > MOST_OF_A_KEY):
        raise InvalidInput("not_idempotency_key", IDEMPOTENCY_KEY, most=MOST_OF_A_KEY)
    return key


router.add_api_route(
    "",
    submit,
    methods=["POST"],
    status_code=201,
    response_model=JobDetail,
    responses=_REPEATED,
    openapi_extra={**_JOB_BODY, "parameters": [_KEY_PARAMETER, _ORIGINAL_PARAMETER]},
    route_class_override=PlainRoute,
)


@router.post("/dry-run", response_model=DryRun, openapi_extra=_TRIED_BODY)
async def dry_run(
    request: Request,
    parts: Wired,
    caller: Signed,
    code_follows: Annotated[
        bool, Query(description="The code that the job names is not uploaded yet, but will be.")
    ] = False,
) -> Response:
    """Check a job document and say whether and when it would start; nothing is created."""
    return JSONResponse(await _dry_run(request, parts, caller, code_follows))


@router.post("/check", response_model=JobCheck, openapi_extra=_TRIED_BODY)
async def check(request: Request, parts: Wired, caller: Signed) -> Response:
    """A dry run for forms that ask while somebody types: a refusal is an answer like any other."""
    try:
        return JSONResponse({"dry_run": await _dry_run(request, parts, caller, False), "refusal": None})
    except FootplateError as error:
        refusal = refusal_of(request, error)
        if refusal.status >= SERVER_FAULT:
            raise
        return JSONResponse({"dry_run": None, "refusal": our_body(refusal)})


async def _dry_run(request: Request, parts: Parts, caller: Caller, code_follows: bool) -> dict[str, Any]:
    asked = await read_asked(request)
    if asked.translation is not None:
        given = (asked.translation, asked.overrides)
        tried = await translating.dry_run(parts.platform, caller, *given, code_follows)
    else:
        document = await jobs.uncover(parts.platform, caller, asked.document, _original(request))
        tried = await jobs.dry_run(parts.platform, caller, document, code_follows)
    would_be = tried.would_be
    return {
        "config": show_job(tried.spec),
        "resources": amount(tried.spec.resources),
        "would_start": would_be.request is not None,
        "reason": reason_view(would_be.reason),
        "request": redact_within(would_be.request, hidden_values(tried.spec)),
        "estimate": None if would_be.estimate is None else estimate_view(would_be.estimate),
        "cost": cost_view(tried.spec, parts.platform.prices),
        "warnings": _lost(parts, asked),
    }


@router.post("/translate", response_model=Translated, openapi_extra=_FOREIGN_BODY)
async def translate(request: Request, parts: Wired, caller: Signed) -> Response:  # noqa: ARG001
    """Translate a job file of another system into a job document; nothing is created."""
    made = await asyncio.to_thread(registry.translate, await request.body())
    return JSONResponse(
        {
            "dialect": made.dialect,
            "document": made.document,
            "converted": [told(one) for one in made.converted],
            "lost": [told(one) for one in translating.lost_of(parts.platform, made)],
        }
    )


@router.get("", response_model=Jobs)
async def page(
    parts: Wired,
    caller: Signed,
    queue: Annotated[list[Text], Query(max_length=100)] = [],  # noqa: B006  # read only
    owner: Annotated[list[Text], Query(max_length=100)] = [],  # noqa: B006
    state: Annotated[list[JobState], Query(max_length=7)] = [],  # noqa: B006
    search: Annotated[Text, Query(max_length=255)] = "",
    tag: Annotated[Text, Query(max_length=63)] = "",
    trash: Annotated[bool, Query(description="Those in the trash instead of the others.")] = False,
    sort: Annotated[
        str, Query(description="A field, with a leading - for the last first.")
    ] = "-submitted_at",
    limit: PageSize = 50,
    page_token: Annotated[str, Query(max_length=2048)] = "",
) -> Response:
    """List jobs that the caller may see, a page at a time."""
    if sort.removeprefix("-") not in SORTS:
        raise InvalidInput("not_sort", "sort", options=list(SORTS))
    wanted = Filter(caller.name, None, queue, owner, state, search, tag, trash)
    after = _read_token(page_token, sort) if page_token else None
    lines, following = await jobs.page(parts.platform, caller, wanted, sort, after, limit)
    waiting = [line.id for line in lines if line.state is JobState.QUEUED]
    why = await parts.platform.scheduler.explain(waiting) if waiting else {}
    now = parts.platform.clock.now()
    views = [line_view(seen(parts.platform, caller, line, why.get(line.id)), now) for line in lines]
    return JSONResponse({"items": views, "next_page_token": _token(sort, following) if following else None})


def _token(sort: str, key: tuple[Any, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps([sort, *key]).encode()).decode().rstrip("=")


def _read_token(token: str, sort: str) -> tuple[Any, str]:
    try:
        key = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (ValueError, RecursionError):
        key = None
    match key:
        case [str(made_for), value, str(job_id)] if made_for == sort and job_id.isprintable():
            if _is_key(sort.removeprefix("-"), value):
                return value, job_id
    raise InvalidInput("not_page_token", "page_token")


def _is_key(sort: str, value: Any) -> bool:
    """Tell whether a token holds what this sort compares; anything else would reach the database."""
    if sort in ("submitted_at", "finished_at", "run_time"):
        return isinstance(value, float) and math.isfinite(value)
    if sort in ("priority", "resources"):
        return type(value) is int and abs(value) < (2**31 if sort == "priority" else 2**62)
    return isinstance(value, str) and value.isprintable()


@router.get("/{job_id}", response_model=JobDetail)
async def detail(
    request: Request,
    parts: Wired,
    caller: Signed,
    job_id: str,
    wait: Annotated[
        float,
        Query(ge=0, le=60, description="Answer when the job is over, at the latest after these seconds."),
    ] = 0,
    until: Annotated[
        list[JobState],
        Query(max_length=7, description="With `wait`: also when it is in one of these states."),
    ] = [],  # noqa: B006  # read only
) -> Response:
    """A job by its id, or by its name among one's own; as soon as it is over, where that is asked for."""
    job = await jobs.find(parts.platform, caller, job_id)
    if wait and not job.state.is_final and job.state not in until:
        await await_state(parts.platform, parts.feed, job.id, until, wait)
        # Rights may have been taken meanwhile.
        caller = await caller_of(request)
        job = await jobs.find(parts.platform, caller, job.id)
    view = await show(parts, caller, job)
    estimate = await parts.platform.scheduler.estimate(job.id) if job.state is JobState.QUEUED else None
    if estimate is not None:
        view["estimate"] = estimate_view(estimate)
    return JSONResponse(view)


@router.get("/{job_id}/config")
async def config(parts: Wired, caller: Signed, job_id: str) -> dict[str, Any]:
    """The job document, to be submitted again; values that are secrets by their names are `***`."""
    job = await jobs.inspect(parts.platform, caller, job_id)
    return _without_code(show_job(job.spec), caller, job)


@router.get("/{job_id}/original", response_model=OriginalBody)
async def original(parts: Wired, caller: Signed, job_id: str) -> dict[str, str]:
    """The file of another system that the job was made from, its secrets masked."""
    found = await jobs.original(parts.platform, caller, job_id)
    return {"dialect": found.dialect, "text": found.text}


@router.patch("/{job_id}", response_model=JobDetail)
async def edit(parts: Wired, caller: Signed, job_id: str, change: JobChange) -> Response:
    """Change name, description, priority, or whether the job is shared with its queue."""
    job = await jobs.edit(
        parts.platform, caller, job_id, change.name, change.description, change.priority, change.shared
    )
    return JSONResponse(await show(parts, caller, job))


@router.post("/{job_id}/stop", response_model=JobDetail)
async def stop(
    parts: Wired,
    caller: Signed,
    job_id: str,
    now: Annotated[bool, Query(description="By force at once, also while it uses its grace.")] = False,
) -> Response:
    """Ask a job to end: politely, after its grace by force."""
    return JSONResponse(await show(parts, caller, await endings.stop(parts.platform, caller, job_id, now)))


@router.post("/{job_id}/halt", response_model=JobDetail)
async def halt(parts: Wired, caller: Signed, job_id: str) -> Response:
    """Ask a job to end and leave what it has made so far, to be downloaded."""
    return JSONResponse(await show(parts, caller, await endings.halt(parts.platform, caller, job_id)))


@router.post("/{job_id}/preempt", response_model=JobDetail)
async def preempt(parts: Wired, caller: Signed, job_id: str) -> Response:
    """Make a job give its place back and wait again; it finds a notice first, and its checkpoints after."""
    return JSONResponse(await show(parts, caller, await endings.preempt(parts.platform, caller, job_id)))


@router.post("/{job_id}/release", response_model=JobDetail)
async def release(parts: Wired, caller: Signed, job_id: str) -> Response:
    """Give up the environment that was kept after a failure, and what it held."""
    return JSONResponse(await show(parts, caller, await endings.release(parts.platform, caller, job_id)))


@router.post("/{job_id}/restore", response_model=JobDetail)
async def restore(parts: Wired, caller: Signed, job_id: str) -> Response:
    """Take a job out of the trash."""
    return JSONResponse(await show(parts, caller, await endings.restore(parts.platform, caller, job_id)))


@router.delete(
    "/{job_id}",
    status_code=202,
    response_class=Response,
    responses={204: {"description": "The job was over; it is in the trash, or gone for good."}},
)
async def delete(
    parts: Wired,
    caller: Signed,
    job_id: str,
    for_good: Annotated[
        bool, Query(description="Not into the trash: record, logs and files go now.")
    ] = False,
) -> Response:
    """Put a job into the trash, or remove it for good: at once (204), or once it is stopped (202)."""
    job = await jobs.find(parts.platform, caller, job_id)
    gone = asyncio.Event()
    with parts.feed.listening(job.id, lambda event: gone.set() if event.kind == "deleted" else None):
        deleting = await endings.delete(parts.platform, caller, job.id, for_good)
        if deleting.state.is_final and for_good:
            with suppress(TimeoutError):
                await asyncio.wait_for(gone.wait(), REMOVAL_S)
    is_done = gone.is_set() if for_good else deleting.state.is_final
    return Response(status_code=204 if is_done else 202)


@router.post(
    "/{job_id}/clone",
    status_code=201,
    response_model=JobDetail,
    responses=_REPEATED,
    openapi_extra=_OVERRIDES,
)
async def clone(
    request: Request, parts: Wired, caller: Signed, job_id: str, key: IdempotencyKey = ""
) -> Response:
    """Submit a job's configuration again; top-level fields of the body replace its own."""
    overrides = await read_document(request) if await request.body() else {}
    if not isinstance(overrides, dict):
        raise InvalidInput("overrides_not_mapping")
    submission = await jobs.clone(parts.platform, caller, job_id, overrides, _clean(key))
    return JSONResponse(await show(parts, caller, submission.job), 201 if submission.is_new else 200)


@router.get("/{job_id}/tasks", response_model=Tasks)
async def tasks(parts: Wired, caller: Signed, job_id: str) -> Response:
    """The tasks of the current attempt."""
    return JSONResponse({"items": task_views((await jobs.inspect(parts.platform, caller, job_id)).tasks)})


@router.get("/{job_id}/attempts", response_model=Attempts)
async def attempts(parts: Wired, caller: Signed, job_id: str) -> Response:
    """Every attempt that was started, with its tasks."""
    found = await jobs.attempts(parts.platform, caller, job_id)
    return JSONResponse(
        {
            "items": [
                {
                    "number": one.number,
                    "state": one.state.value,
                    "reason": reason_view(one.reason),
                    "started_at": instant(one.started_at),
                    "running_at": instant(one.running_at),
                    "finished_at": instant(one.finished_at),
                    "tasks": task_views(one.tasks),
                }
                for one in found
            ]
        }
    )
