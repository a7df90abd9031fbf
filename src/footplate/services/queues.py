"""Queues and nodes: who may use them, what they hold, and how admins shape them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from footplate.domain.cluster import Node, Queue
from footplate.domain.errors import Conflict, Denied, NotFound
from footplate.domain.resources import NOTHING, Resources
from footplate.domain.spec import DEFAULT_QUEUE
from footplate.domain.states import JobState
from footplate.services.access import RANKS, Caller, require_admin
from footplate.services.platform import Platform
from footplate.store import account_queries, queue_queries


@dataclass(frozen=True, slots=True)
class QueueUse:
    """A queue with what its jobs hold now."""

    queue: Queue
    used: Resources
    n_running: int
    n_waiting: int
    my_role: str | None


def all_visible(platform: Platform, caller: Caller) -> list[QueueUse]:
    return [
        _use(platform, caller, queue)
        for queue in platform.cluster.queues.values()
        if caller.rank_in(queue.name)
    ]


def find(platform: Platform, caller: Caller, name: str) -> QueueUse:
    return _use(platform, caller, _visible(platform, caller, name))


def _visible(platform: Platform, caller: Caller, name: str) -> Queue:
    queue = platform.cluster.queues.get(name)
    if queue is None or not caller.rank_in(name):
        raise NotFound(f"there is no queue {name[:64]!r} that you may see")
    return queue


def _use(platform: Platform, caller: Caller, queue: Queue) -> QueueUse:
    used, n_running, n_waiting = NOTHING, 0, 0
    for job in list(platform.store.board.values()):
        if job.spec.queue != queue.name:
            continue
        if job.placement is not None:
            used, n_running = used + job.placement.resources, n_running + 1
        elif job.state is JobState.QUEUED:
            n_waiting += 1
    role = "admin" if caller.is_admin else caller.roles.get(queue.name)
    return QueueUse(queue, used, n_running, n_waiting, role)


async def add(platform: Platform, caller: Caller, queue: Queue) -> QueueUse:
    require_admin(caller, "add queues")
    now = platform.clock.now()

    def unit(connection: sa.Connection) -> None:
        if any(known.name == queue.name for known in queue_queries.all_queues(connection)):
            raise Conflict(f"there is a queue {queue.name} already")
        queue_queries.add_queue(connection, queue, now)

    await platform.store.write(lambda tx: unit(tx.connection))
    await _reload(platform)
    return find(platform, caller, queue.name)


async def change(platform: Platform, caller: Caller, name: str, changes: Mapping[str, Any]) -> QueueUse:
    """Change a queue; running jobs go on even when it shrinks below what they hold."""
    require_admin(caller, "change queues")
    changed = replace(_visible(platform, caller, name), **changes)
    await platform.store.write(lambda tx: queue_queries.change_queue(tx.connection, changed))
    await _reload(platform)
    return find(platform, caller, name)


async def remove(platform: Platform, caller: Caller, name: str) -> None:
    require_admin(caller, "remove queues")
    _visible(platform, caller, name)
    if name == DEFAULT_QUEUE:
        raise Conflict("the default queue stays: jobs that name no queue need it")

    def unit(connection: sa.Connection) -> None:
        if queue_queries.has_jobs(connection, name):
            raise Conflict(f"queue {name} still has jobs: delete them first, or close the queue instead")
        queue_queries.remove_queue(connection, name)
        # From here on no submit finds it, even one that was checked before.
        platform.cluster.queues.pop(name, None)

    try:
        await platform.store.write(lambda tx: unit(tx.connection))
    finally:
        await _reload(platform)


async def members(platform: Platform, caller: Caller, name: str) -> dict[str, str]:
    _require_queue_admin(caller, _visible(platform, caller, name))
    return await platform.store.read(lambda connection: account_queries.members_of(connection, name))


async def put_member(platform: Platform, caller: Caller, name: str, user: str, role: str) -> None:
    _require_queue_admin(caller, _visible(platform, caller, name))

    def unit(connection: sa.Connection) -> None:
        if account_queries.user(connection, user) is None:
            raise NotFound(f"there is no user {user}")
        account_queries.put_member(connection, name, user, role)

    await platform.store.write(lambda tx: unit(tx.connection))


async def remove_member(platform: Platform, caller: Caller, name: str, user: str) -> None:
    _require_queue_admin(caller, _visible(platform, caller, name))
    if not await platform.store.write(lambda tx: account_queries.remove_member(tx.connection, name, user)):
        raise NotFound(f"{user} has no role in queue {name}")


def _require_queue_admin(caller: Caller, queue: Queue) -> None:
    if caller.rank_in(queue.name) < RANKS["admin"]:
        raise Denied(
            f"only an admin of queue {queue.name} may see or change its members; you are {caller.name}"
        )


async def ensure_default(platform: Platform) -> None:
    """Make the queue that jobs without one wait in."""

    def unit(connection: sa.Connection) -> None:
        if not queue_queries.all_queues(connection):
            default = Queue(DEFAULT_QUEUE, "For jobs that name no queue")
            queue_queries.add_queue(connection, default, platform.clock.now())

    await platform.store.write(lambda tx: unit(tx.connection))
    await _reload(platform)


async def _reload(platform: Platform) -> None:
    await platform.store.read(platform.cluster.load)
    platform.replan()


@dataclass(frozen=True, slots=True)
class NodeUse:
    """A node with what is taken of it, and which job holds which card."""

    node: Node
    used: Resources
    cards: dict[int, str]


def node_uses(platform: Platform) -> list[NodeUse]:
    used: dict[str, Resources] = {}
    cards: dict[str, dict[int, str]] = {}
    for job in list(platform.store.board.values()):
        for task in job.placement.tasks if job.placement is not None else ():
            used[task.node] = used.get(task.node, NOTHING) + task.resources
            cards.setdefault(task.node, {}).update(dict.fromkeys(task.gpus, job.id))
    return [
        NodeUse(node, used.get(node.name, NOTHING), cards.get(node.name, {}))
        for node in platform.cluster.nodes
    ]


async def open_node(platform: Platform, caller: Caller, name: str, is_schedulable: bool) -> NodeUse:
    """Drain a node or take it into use again; what runs there goes on."""
    require_admin(caller, "drain nodes")
    if platform.cluster.node(name) is None:
        raise NotFound(f"there is no node {name[:64]!r}")
    await platform.store.write(lambda tx: queue_queries.open_node(tx.connection, name, is_schedulable))
    await _reload(platform)
    return next(use for use in node_uses(platform) if use.node.name == name)
