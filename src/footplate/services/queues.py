"""Queues and nodes: who may use them, their usage, and how admins change them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from footplate.domain.cluster import Node, Queue
from footplate.domain.errors import Conflict, Denied, InvalidInput, NotFound, Problem, problem
from footplate.domain.job import Job
from footplate.domain.messages import Message, say
from footplate.domain.queuewarnings import warnings_of
from footplate.domain.resources import NOTHING, Resources
from footplate.domain.spec import DEFAULT_QUEUE
from footplate.domain.states import JobState
from footplate.domain.storage import overlap
from footplate.services import audit, engines
from footplate.services.access import RANKS, Caller, require_admin, require_person
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
    engine_problem: Message | None
    warnings: list[Message]


@dataclass(slots=True)
class _Load:
    used: Resources = NOTHING
    n_running: int = 0
    n_waiting: int = 0


def all_visible(platform: Platform, caller: Caller) -> list[QueueUse]:
    loads = _loads(list(platform.store.board.values()))
    return [
        _use(platform, caller, queue, loads)
        for queue in platform.cluster.queues.values()
        if caller.rank_in(queue.name)
    ]


def find(platform: Platform, caller: Caller, name: str) -> QueueUse:
    queue = _visible(platform, caller, name)
    return _use(platform, caller, queue, _loads(list(platform.store.board.values())))


def require_admin_of(platform: Platform, caller: Caller, queue: str, denied: str) -> None:
    """Refuse what only admins of a queue may do; `denied` is the code of what they are told."""
    if queue and caller.rank_in(_visible(platform, caller, queue).name) < RANKS["admin"]:
        raise Denied(denied, queue=queue, user=caller.name)


def nodes_of(platform: Platform, queue: Queue) -> list[Node]:
    """The nodes that jobs of a queue may run on; none where its engine places by itself."""
    bound = platform.engines.bind(queue)
    return [node for node in platform.cluster.nodes if bound.may_use(node)]


def _visible(platform: Platform, caller: Caller, name: str) -> Queue:
    queue = platform.cluster.queues.get(name)
    if queue is None or not caller.rank_in(name):
        raise NotFound("queue_not_visible", queue=name[:64])
    return queue


def _loads(jobs: Iterable[Job]) -> dict[str, _Load]:
    """What the jobs of each queue hold, in one pass over all of them."""
    loads: dict[str, _Load] = {}
    for job in jobs:
        load = loads.setdefault(job.spec.queue, _Load())
        if job.placement is not None and not job.is_handed_over:
            load.used, load.n_running = load.used + job.placement.resources, load.n_running + 1
        elif job.state is JobState.QUEUED:
            load.n_waiting += 1
    return loads


def _use(platform: Platform, caller: Caller, queue: Queue, loads: Mapping[str, _Load]) -> QueueUse:
    load = loads.get(queue.name, _Load())
    role = "admin" if caller.is_admin else caller.roles.get(queue.name)
    engine_problem = engines.problem_of(platform, queue)
    warnings = warnings_of(queue, platform.cluster.queues.values(), platform.cluster.nodes)
    return QueueUse(queue, load.used, load.n_running, load.n_waiting, role, engine_problem, warnings)


async def add(platform: Platform, caller: Caller, queue: Queue) -> QueueUse:
    require_admin(caller, "add_queues")
    _check_limits(queue)
    engines.require_known(platform, queue.engine)
    await _check_environments(platform, queue.environments)
    now = platform.clock.now()

    def unit(connection: sa.Connection) -> None:
        if any(known.name == queue.name for known in queue_queries.all_queues(connection)):
            raise Conflict("queue_exists", queue=queue.name)
        queue_queries.add_queue(connection, queue, now)

    changes = audit.changes_of(Queue(queue.name), queue)
    await audit.change(platform, caller, "queue.added", queue.name, unit, changes=changes)
    await _reload(platform)
    return find(platform, caller, queue.name)


async def change(platform: Platform, caller: Caller, name: str, changes: Mapping[str, Any]) -> QueueUse:
    """Change a queue; running jobs go on even when it shrinks below what they hold."""
    require_admin(caller, "change_queues")
    before = _visible(platform, caller, name)
    changed = replace(before, **changes)
    if not changes.keys().isdisjoint(("share", "maximum")):
        _check_limits(changed, blamed="share" if "share" in changes else "maximum")
    engines.require_known(platform, changes.get("engine", ""))
    await _check_environments(platform, changes.get("environments", ()))
    await audit.change(
        platform,
        caller,
        "queue.changed",
        name,
        lambda connection: queue_queries.change_queue(connection, changed),
        changes=audit.changes_of(before, changed),
    )
    await _reload(platform)
    return find(platform, caller, name)


def _check_limits(queue: Queue, blamed: str = "share") -> None:
    """Raise `InvalidInput` when the share of a queue is more than it may use."""
    if queue.maximum is None or queue.share.fits_in(queue.maximum):
        return
    least, most = queue.share, queue.maximum
    amounts = {
        "cpus": ("milli_cpus", least.milli_cpus, most.milli_cpus),
        "memory_bytes": ("memory_bytes", least.memory_bytes, most.memory_bytes),
        "gpus": ("gpus", least.gpus, most.gpus),
    }
    raise InvalidInput(
        problem(f"{blamed}.{what}", "share_above_maximum", share={name: low}, maximum={name: high})
        for what, (name, low, high) in amounts.items()
        if low > high
    )


async def _check_environments(platform: Platform, environments: Iterable[tuple[str, str]]) -> None:
    """Raise `InvalidInput` for paths that are no folder of this machine, or show the platform's own files."""

    def faults() -> list[Problem]:
        found = ((image, _fault_of(path, platform.home)) for image, path in environments)
        return [Problem(f"environments.{image}", fault) for image, fault in found if fault]

    # In a thread: a folder on a network may let us wait.
    problems = await asyncio.to_thread(faults)
    if problems:
        raise InvalidInput(problems)


def _fault_of(path: str, home: Path) -> Message | None:
    if not path.startswith("/") or not Path(path).is_dir():
        return say("environment_unknown", folder=path)
    # What a link leads to is what tasks would see.
    if any(overlap(place, str(home.resolve())) for place in (path, str(Path(path).resolve()))):
        return say("environment_in_home", folder=path)
    return None


async def remove(platform: Platform, caller: Caller, name: str) -> None:
    require_admin(caller, "remove_queues")
    _visible(platform, caller, name)
    if name == DEFAULT_QUEUE:
        raise Conflict("default_queue_stays")

    def unit(connection: sa.Connection) -> None:
        if queue_queries.has_jobs(connection, name):
            raise Conflict("queue_has_jobs", queue=name)
        queue_queries.remove_queue(connection, name)
        # From here on no submit finds it, even one that was checked before.
        platform.cluster.queues.pop(name, None)

    try:
        await audit.change(platform, caller, "queue.removed", name, unit)
    finally:
        await _reload(platform)


async def members(platform: Platform, caller: Caller, name: str) -> dict[str, str]:
    _require_queue_admin(caller, _visible(platform, caller, name))
    return await platform.store.read(lambda connection: account_queries.members_of(connection, name))


async def put_member(platform: Platform, caller: Caller, name: str, user: str, role: str) -> None:
    require_person(caller, "hand_out_roles")
    _require_queue_admin(caller, _visible(platform, caller, name))

    def unit(connection: sa.Connection) -> None:
        if account_queries.user(connection, user) is None:
            raise NotFound("user_unknown", user=user)
        account_queries.put_member(connection, name, user, role)

    await audit.change(platform, caller, "member.set", f"{name}/{user}", unit, role=role)


async def remove_member(platform: Platform, caller: Caller, name: str, user: str) -> None:
    require_person(caller, "take_roles_away")
    _require_queue_admin(caller, _visible(platform, caller, name))
    gone = await audit.change(
        platform,
        caller,
        "member.removed",
        f"{name}/{user}",
        lambda connection: account_queries.remove_member(connection, name, user),
    )
    if not gone:
        raise NotFound("no_role_in_queue", user=user, queue=name)


def _require_queue_admin(caller: Caller, queue: Queue) -> None:
    if caller.rank_in(queue.name) < RANKS["admin"]:
        raise Denied("members_for_admins", queue=queue.name, user=caller.name)


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
        for task in job.placement.held.tasks if job.placement is not None else ():
            used[task.node] = used.get(task.node, NOTHING) + task.resources
            cards.setdefault(task.node, {}).update(dict.fromkeys(task.gpus, job.id))
    return [
        NodeUse(node, used.get(node.name, NOTHING), cards.get(node.name, {}))
        for node in platform.cluster.nodes
    ]


async def open_node(platform: Platform, caller: Caller, name: str, is_schedulable: bool) -> NodeUse:
    """Drain a node or take it into use again; what runs there goes on."""
    require_admin(caller, "drain_nodes")
    if platform.cluster.node(name) is None:
        raise NotFound("node_unknown", node=name[:64])
    await audit.change(
        platform,
        caller,
        "node.opened" if is_schedulable else "node.drained",
        name,
        lambda connection: queue_queries.open_node(connection, name, is_schedulable),
    )
    await _reload(platform)
    return next(use for use in node_uses(platform) if use.node.name == name)
