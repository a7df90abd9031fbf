"""One node: what its tasks are, as far as the caller may see them, and what is used of it over time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from footplate.domain.cluster import TaskPlacement
from footplate.domain.errors import NotFound
from footplate.domain.job import Job
from footplate.services import queues
from footplate.services.access import Caller, may_see
from footplate.services.platform import Platform
from footplate.services.queues import NodeUse
from footplate.store.usagefiles import Sample


@dataclass(frozen=True, slots=True)
class NodeTask:
    """A task that holds a part of a node."""

    job: Job
    place: TaskPlacement


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node as somebody sees it: of tasks that they may not see, only the number."""

    use: NodeUse
    tasks: list[NodeTask]
    n_hidden: int
    used: Sample | None
    cards: dict[int, Sample]


def find(platform: Platform, caller: Caller, name: str) -> NodeView:
    use = next((one for one in queues.node_uses(platform) if one.node.name == name), None)
    if use is None:
        raise NotFound("node_unknown", node=name[:64])
    tasks = _tasks_on(platform, name)
    seen = [one for one in tasks if may_see(caller, one.job.owner, one.job.spec.queue)]
    cards = {gpu.index: platform.usage.newest_of_node(name, gpu.index) for gpu in use.node.gpus}
    return NodeView(
        use,
        seen,
        len(tasks) - len(seen),
        platform.usage.newest_of_node(name),
        {index: sample for index, sample in cards.items() if sample is not None},
    )


def _tasks_on(platform: Platform, name: str) -> list[NodeTask]:
    jobs = [job for job in list(platform.store.board.values()) if job.placement is not None]
    return [
        NodeTask(job, place)
        for job in sorted(jobs, key=lambda job: job.queued_at)
        for place in (job.placement.held.tasks if job.placement else ())
        if place.node == name
    ]


async def usage(platform: Platform, name: str, card: int | None, since: float) -> list[Sample]:
    """Read what was used of a node over time, or of one of its cards; also of one that is away now."""
    samples = await asyncio.to_thread(platform.usage.read_node, name, card, since)
    node = platform.cluster.node(name)
    if not samples and node is None:
        raise NotFound("node_unknown", node=name[:64])
    if not samples and card is not None and node and all(gpu.index != card for gpu in node.gpus):
        raise NotFound("card_unknown", node=name[:64], card=card)
    return samples
