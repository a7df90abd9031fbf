"""Queues and nodes over REST."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from footplate.domain.cluster import Queue
from footplate.server.auth import SIGNED_IN, Signed, Wired
from footplate.services import queues
from footplate.services.queues import NodeUse, QueueUse
from footplate.wire.body import Text
from footplate.wire.convert import maximum, node_view, queue_view, resources
from footplate.wire.nodes import NodeBody, NodeChange, Nodes
from footplate.wire.queues import MemberChange, Members, NewQueue, QueueBody, QueueChange, Queues

router = APIRouter(tags=["queues"])


def show_queue(use: QueueUse) -> dict[str, Any]:
    return queue_view(use.queue, use.used, use.n_running, use.n_waiting, use.my_role, use.engine_problem)


def show_node(use: NodeUse) -> dict[str, Any]:
    return node_view(use.node, use.used, use.cards)


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
        resources(body.guaranteed),
        maximum(body.maximum),
        tuple(body.nodes),
        body.is_open,
        tuple(sorted(body.environments.items())),
        body.engine,
        is_shared=body.is_shared,
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
    if "guaranteed" in given and body.guaranteed is not None:
        changes["guaranteed"] = resources(body.guaranteed)
    if "maximum" in given:
        changes["maximum"] = maximum(body.maximum)
    if body.nodes is not None:
        changes["nodes"] = tuple(body.nodes)
    if body.environments is not None:
        changes["environments"] = tuple(sorted(body.environments.items()))
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


@router.get("/nodes", response_model=Nodes, dependencies=[SIGNED_IN])
async def nodes(parts: Wired) -> dict[str, Any]:
    """The machines, what is free of them, and which job holds which card."""
    return {"items": [show_node(use) for use in queues.node_uses(parts.platform)]}


@router.patch("/nodes/{name}", response_model=NodeBody)
async def open_node(parts: Wired, caller: Signed, name: Text, body: NodeChange) -> dict[str, Any]:
    """Drain a node, or take it into use again."""
    return show_node(await queues.open_node(parts.platform, caller, name, body.is_schedulable))
