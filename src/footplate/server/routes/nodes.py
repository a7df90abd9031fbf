"""Nodes over REST: what they have, what runs there, and what is used of them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from footplate.server.auth import SIGNED_IN, Signed, Wired
from footplate.server.routes.logs import SinceTime, moment
from footplate.server.routes.usage import show_point
from footplate.services import nodes, queues
from footplate.services.nodes import NodeTask, NodeView
from footplate.services.queues import NodeUse
from footplate.store import usagefiles
from footplate.store.usagefiles import UNKNOWN, Sample
from footplate.wire.body import Text
from footplate.wire.convert import amount, node_view
from footplate.wire.nodes import NodeBody, NodeChange, NodeDetail, Nodes, NodeUsageBody

router = APIRouter(prefix="/nodes", tags=["queues"])


@router.get("", response_model=Nodes, dependencies=[SIGNED_IN])
async def listed(parts: Wired) -> dict[str, Any]:
    """The machines, what is free of them, and which job holds which card."""
    return {"items": [_show(use) for use in queues.node_uses(parts.platform)]}


@router.get("/{name}", response_model=NodeDetail)
async def detail(parts: Wired, caller: Signed, name: Text) -> dict[str, Any]:
    """One machine: the tasks there, and how busy its cards are."""
    return _show_whole(nodes.find(parts.platform, caller, name))


@router.patch("/{name}", response_model=NodeBody)
async def open_node(parts: Wired, caller: Signed, name: Text, body: NodeChange) -> dict[str, Any]:
    """Drain a node, or take it into use again."""
    return _show(await queues.open_node(parts.platform, caller, name, body.is_schedulable))


@router.get("/{name}/usage", response_model=NodeUsageBody, dependencies=[SIGNED_IN])
async def usage(
    parts: Wired,
    name: Text,
    card: Annotated[int | None, Query(ge=0, le=1024, description="One card instead of all.")] = None,
    since: SinceTime = None,
    points: Annotated[int, Query(ge=1, le=2000, description="Most points to answer with.")] = 300,
) -> dict[str, Any]:
    """What all that runs on a machine has used of it, oldest first."""
    begin = moment(since, parts.platform.clock.now()) or 0.0
    samples = await nodes.usage(parts.platform, name, card, begin)
    return {
        "node": name,
        "card": card,
        "points": [show_point(rate) for rate in usagefiles.rates(samples, points)],
    }


def _show(use: NodeUse) -> dict[str, Any]:
    return node_view(use.node, use.used, use.cards)


def _show_whole(view: NodeView) -> dict[str, Any]:
    return {
        **_show(view.use),
        "tasks": [_show_task(one) for one in view.tasks],
        "n_hidden_tasks": view.n_hidden,
        "used_memory_bytes": view.used.memory_bytes if view.used else None,
        "cards": [_show_card(index, sample) for index, sample in view.cards.items()],
    }


def _show_task(one: NodeTask) -> dict[str, Any]:
    job, place = one.job, one.place
    return {
        "job_id": job.id,
        "job_name": job.spec.name,
        "owner": job.owner,
        "queue": job.spec.queue,
        "state": job.state,
        "task": f"{place.role}-{place.index}",
        "resources": amount(place.resources),
        "gpus": list(place.gpus),
    }


def _show_card(index: int, sample: Sample) -> dict[str, Any]:
    return {
        "index": index,
        "utilisation": sample.gpu_utilisation,
        "memory_bytes": sample.gpu_memory_bytes,
        "power_w": None if sample.power_w == UNKNOWN else sample.power_w,
    }
