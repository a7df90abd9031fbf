"""What the watch over lasting conditions looks at: engines, nodes, disks, storages, metrics of jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from footplate.domain.job import Job
from footplate.domain.messages import Message, say
from footplate.services.metrics import latest_of
from footplate.services.platform import Platform


async def metric_of(platform: Platform, job: Job, name: str) -> float | None:
    """The newest value of a metric of a job."""
    found = (await asyncio.to_thread(latest_of, platform, job, (name,))).get(name)
    return None if found is None or found.last is None else found.last.value


def of_nodes(platform: Platform) -> Mapping[str, Message]:
    """Say which engines do not answer, and which nodes cannot be used although nobody drained them."""
    found = {
        f"engine {name}": say("alert_engine_away", engine=name, why=health.away)
        for name, health in platform.engines.health.items()
        if health.away is not None
    }
    for node in platform.cluster.nodes:
        if not node.is_schedulable and not node.drained_by:
            found[node.name] = say("alert_node_out", node=node.name)
    return found


def of_disks(platform: Platform, silent: Callable[[], Mapping[str, Message]]) -> Mapping[str, Message]:
    """Say whether the server's disk is nearly full, and which storages do not answer."""
    low = platform.disk.tell()
    return {**({"disk": low} if low else {}), **{f"storage {name}": said for name, said in silent().items()}}
