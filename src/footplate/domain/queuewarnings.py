"""Warnings of queues that are allowed, but that the present nodes cannot serve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from footplate.domain.cluster import Node, Queue
from footplate.domain.messages import Message, say
from footplate.domain.resources import Resources, total


def warnings_of(queue: Queue, queues: Iterable[Queue], nodes: Sequence[Node]) -> list[Message]:
    """Say which nodes of a queue are unknown, and which shares are more than there is.

    Nodes may come later, so none of this is refused. Without any node nothing can be said.
    """
    if not nodes:
        return []
    own = [node for node in nodes if queue.may_use(node)]
    warnings = list(_unknown_nodes(queue, nodes))
    if queue.engine and not own:
        # Its engine may place by itself, or has not been heard yet.
        return warnings
    too_much = list(_above("share_above_nodes", queue.share, total(node.capacity for node in own)))
    return warnings + (too_much or list(_above_together(queue, queues, nodes)))


def _unknown_nodes(queue: Queue, nodes: Sequence[Node]) -> Iterable[Message]:
    known = {node.name for node in nodes}
    if unknown := [name for name in queue.nodes if name not in known]:
        yield say("queue_nodes_unknown", nodes=unknown, known=sorted(known))


def _above_together(queue: Queue, queues: Iterable[Queue], nodes: Sequence[Node]) -> Iterable[Message]:
    """Compare the shares of all queues with all nodes, in what this queue has a share of."""
    shares, capacity = total(one.share for one in queues), total(node.capacity for node in nodes)
    own = Resources(
        shares.milli_cpus if queue.share.milli_cpus else 0,
        shares.memory_bytes if queue.share.memory_bytes else 0,
        shares.gpus if queue.share.gpus else 0,
    )
    return _above("shares_above_nodes", own, capacity)


def _above(code: str, share: Resources, most: Resources) -> Iterable[Message]:
    """Tell each amount of which a share is more than there is."""
    for name, asked, there in (
        ("gpus", share.gpus, most.gpus),
        ("milli_cpus", share.milli_cpus, most.milli_cpus),
        ("memory_bytes", share.memory_bytes, most.memory_bytes),
    ):
        if asked > there:
            yield say(code, share={name: asked}, most={name: there})
