"""Queues over REST."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from footplate.domain.cluster import Queue
from footplate.server.auth import Signed, Wired
from footplate.services import queues
from footplate.services.queues import QueueUse
from footplate.wire.body import Text
from footplate.wire.convert import maximum, queue_view, resources
from footplate.wire.queues import MemberChange, Members, NewQueue, QueueBody, QueueChange, Queues
from footplate.wire.told import told

router = APIRouter(tags=["queues"])


def show_queue(use: QueueUse) -> dict[str, Any]:
    view = queue_view(use.queue, use.used, use.n_running, use.n_waiting, use.my_role, use.engine_problem)
    return {**view, "warnings": [told(one) for one in use.warnings]}


@router.get("/queues", response_model=Queues)
async def listed(parts: Wired, caller: Signed) -> dict[str, Any]:
    """The queues that the caller has a role in."""
    return {"items": [show_queue(use) for use in queues.all_visible(parts.platform, caller)]}


@router.post("/queues", status_code=201, response_model=QueueBody)
async def add(parts: Wired, caller: Signed, body: NewQueue) -> dict[str, Any]:
    """Add a queue."""
    queue = Queue(
        body.name,
        body.description,
        resources(body.share),
        maximum(body.maximum),
        tuple(body.nodes),
        body.is_open,
        tuple(sorted(body.environments.items())),
        body.engine,
        is_shared=body.is_shared,
        retention=tuple(sorted(body.retention.items())),
    )
    return show_queue(await queues.add(parts.platform, caller, queue))


@router.get("/queues/{name}", response_model=QueueBody)
async def detail(parts: Wired, caller: Signed, name: str) -> dict[str, Any]:
    """One queue."""
    return show_queue(queues.find(parts.platform, caller, name))


@router.patch("/queues/{name}", response_model=QueueBody)
async def change(parts: Wired, caller: Signed, name: str, body: QueueChange) -> dict[str, Any]:
    """Change a queue; fields that are absent stay, a maximum of null means unlimited."""
    given = body.model_fields_set
    changes: dict[str, Any] = {}
    for field in ("description", "is_open", "is_shared", "engine"):
        if field in given and getattr(body, field) is not None:
            changes[field] = getattr(body, field)
    if "share" in given and body.share is not None:
        changes["share"] = resources(body.share)
    if "maximum" in given:
        changes["maximum"] = maximum(body.maximum)
    if body.nodes is not None:
        changes["nodes"] = tuple(body.nodes)
    if body.environments is not None:
        changes["environments"] = tuple(sorted(body.environments.items()))
    if body.retention is not None:
        changes["retention"] = tuple(sorted(body.retention.items()))
    return show_queue(await queues.change(parts.platform, caller, name, changes))


@router.delete("/queues/{name}", status_code=204)
async def remove(parts: Wired, caller: Signed, name: str) -> Response:
    """Remove a queue that has no jobs."""
    await queues.remove(parts.platform, caller, name)
    return Response(status_code=204)


@router.get("/queues/{name}/members", response_model=Members)
async def members(parts: Wired, caller: Signed, name: str) -> dict[str, Any]:
    """Who has which role in a queue."""
    found = await queues.members(parts.platform, caller, name)
    return {"items": [{"user": user, "role": role} for user, role in found.items()]}


@router.put("/queues/{name}/members/{user}", status_code=204)
async def put_member(parts: Wired, caller: Signed, name: str, user: Text, body: MemberChange) -> Response:
    """Give somebody a role in a queue."""
    await queues.put_member(parts.platform, caller, name, user, body.role)
    parts.accounts.forget()
    return Response(status_code=204)


@router.delete("/queues/{name}/members/{user}", status_code=204)
async def remove_member(parts: Wired, caller: Signed, name: str, user: Text) -> Response:
    """Take somebody's role in a queue away."""
    await queues.remove_member(parts.platform, caller, name, user)
    parts.accounts.forget()
    return Response(status_code=204)
