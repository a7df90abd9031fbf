"""Notebooks over REST: started as jobs, with samples to copy from."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header
from fastapi.responses import JSONResponse, Response

from footplate.server.auth import SIGNED_IN, Signed, Wired
from footplate.server.routes.jobs import show
from footplate.services import notebooks
from footplate.wire.body import Text
from footplate.wire.jobs import JobDetail
from footplate.wire.notebooks import NewNotebook, Samples
from footplate.wire.told import told

router = APIRouter(prefix="/notebooks", tags=["jobs"])


@router.post("", status_code=201, response_model=JobDetail)
async def start(
    parts: Wired,
    caller: Signed,
    body: NewNotebook,
    key: Annotated[Text, Header(alias="Idempotency-Key", max_length=200)] = "",
) -> Response:
    """Submit a job with JupyterLab, which ends when nobody uses it any more; open its service `jupyter`."""
    parts.platform.disk.require_room(caller.name)
    wish = _wish(body)
    submission = await notebooks.start(parts.platform, caller, wish, body.samples, key)
    return JSONResponse(await show(parts, caller, submission.job), 201 if submission.is_new else 200)


@router.get("/samples", response_model=Samples, dependencies=[SIGNED_IN])
async def samples() -> dict[str, Any]:
    """The sample notebooks."""
    return {"items": [{"file": name, "description": told(one)} for name, one in notebooks.SAMPLES.items()]}


@router.get("/samples/{file}", dependencies=[SIGNED_IN])
async def sample(file: Text) -> Response:
    """One sample notebook, as a file."""
    return Response(notebooks.read_sample(file), media_type="application/x-ipynb+json")


def _wish(body: NewNotebook) -> dict[str, Any]:
    fields = body.model_dump(exclude={"samples", "packages"})
    return {**fields, "environment": {"requirements": body.packages} if body.packages else None}
