"""The catalogues of instance types and frameworks: everybody reads them, platform admins keep them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from footplate.domain.capacity import Capacity
from footplate.domain.choices import Framework, InstanceType
from footplate.domain.environmentfields import ENVIRONMENT
from footplate.domain.errors import InvalidInput, NotFound, Problem, problem
from footplate.domain.problems import Problems
from footplate.domain.spec import DEFAULT_QUEUE, EnvironmentSpec
from footplate.engines.strategies import registry as strategies
from footplate.scheduler.capacity import Survey, survey
from footplate.scheduler.snapshot import RoleShape
from footplate.services import audit, queues
from footplate.services.access import Caller, require_admin
from footplate.services.platform import Platform
from footplate.store import choice_queries


@dataclass(frozen=True, slots=True)
class OfferedType:
    """An instance type, and how many tasks of it find room; None where that cannot be known."""

    type: InstanceType
    fit_now: int | None
    fit_at_most: int | None


@dataclass(frozen=True, slots=True)
class Offer:
    """What somebody can choose from in a queue."""

    queue: str | None
    types: list[OfferedType]
    capacity: Capacity | None


def offer(platform: Platform, caller: Caller, queue: str | None = None) -> Offer:
    """List the instance types, with what is free where jobs of a queue may run (default: one of theirs)."""
    name = queue if queue is not None else _own_queue(platform, caller)
    found = None if name is None else _survey(platform, caller, name)
    types = [_offered(one, found) for one in platform.choices.types.values()]
    return Offer(name, types, None if found is None else found.capacity)


def _own_queue(platform: Platform, caller: Caller) -> str | None:
    """Name the default queue, or else the first that the caller may see."""
    seen = [name for name in platform.cluster.queues if caller.rank_in(name)]
    return DEFAULT_QUEUE if DEFAULT_QUEUE in seen else next(iter(seen), None)


def _survey(platform: Platform, caller: Caller, name: str) -> Survey | None:
    """Look at the nodes of a queue; None where an engine places by itself, and has no nodes to show."""
    use = queues.find(platform, caller, name)
    queue = platform.engines.bind(use.queue)
    if platform.engines.places(queue):
        return None
    away = {state.name for state in platform.engines.states() if state.away is not None}
    nodes = [node for node in platform.cluster.nodes if node.engine not in away]
    held = [job.placement.held for job in list(platform.store.board.values()) if job.placement is not None]
    return survey(queue, nodes, held, use.used)


def _offered(one: InstanceType, found: Survey | None) -> OfferedType:
    if found is None:
        return OfferedType(one, None, None)
    shape = RoleShape("", 1, one.resources, one.gpu_type)
    return OfferedType(one, found.fit_now(shape), found.fit_at_most(shape))


async def put_type(
    platform: Platform, caller: Caller, name: str, amounts: Mapping[str, Any], details: Mapping[str, Any]
) -> InstanceType:
    """Add an instance type, or change the one of this name; details that are absent stay as they are."""
    require_admin(caller, "change_instance_types")
    now = platform.clock.now()
    before = platform.choices.types.get(name)
    start = before or InstanceType(name, 0, 0, created_at=now)
    made = replace(start, **amounts, **details, updated_at=now)
    if problems := _bad_type(made):
        raise InvalidInput(problems)
    await audit.change(
        platform,
        caller,
        "type.set",
        name,
        lambda connection: choice_queries.put_type(connection, made),
        changes=audit.changes_of(start, made),
    )
    await _reload(platform)
    return made


def _bad_type(one: InstanceType) -> list[Problem]:
    problems = []
    if one.gpu_type and not one.gpus:
        problems.append(problem("gpu_type", "gpu_type_without_gpus"))
    if one.shm_bytes is not None and one.shm_bytes > one.memory_bytes:
        problems.append(problem("shm_bytes", "more_than_memory", memory_bytes=one.memory_bytes))
    return problems


async def remove_type(platform: Platform, caller: Caller, name: str) -> None:
    """Take an instance type out of the catalogue; jobs that have it keep their size."""
    require_admin(caller, "change_instance_types")
    gone = await audit.change(
        platform,
        caller,
        "type.removed",
        name,
        lambda connection: choice_queries.remove_type(connection, name),
    )
    if not gone:
        raise NotFound("type_unknown", type=name[:128])
    await _reload(platform)


def all_frameworks(platform: Platform) -> list[Framework]:
    return platform.choices.frameworks


async def put_framework(
    platform: Platform, caller: Caller, name: str, version: str, details: Mapping[str, Any]
) -> Framework:
    """Add a version of a framework, or change it; details that are absent stay as they are."""
    require_admin(caller, "change_frameworks")
    now = platform.clock.now()
    known = (one for one in platform.choices.frameworks if (one.name, one.version) == (name, version))
    start = next(known, Framework(name, version, created_at=now))
    read = {**details}
    if "environment" in details:
        read["environment"] = _environment(details["environment"])
    made = replace(start, **read, updated_at=now)
    if problems := _bad_framework(made):
        raise InvalidInput(problems)

    def unit(connection: sa.Connection) -> None:
        choice_queries.put_framework(connection, made)

    changes = audit.changes_of(start, made)
    await audit.change(platform, caller, "framework.set", made.label, unit, changes=changes)
    await _reload(platform)
    return made


def _environment(document: Any) -> EnvironmentSpec | None:
    """Read the packages of a framework as a job file has them."""
    if document is None:
        return None
    problems = Problems()
    read = ENVIRONMENT.read(document, "environment", problems)
    problems.raise_if_any()
    assert isinstance(read, EnvironmentSpec)
    if read.file:
        raise InvalidInput("framework_file", "environment", file=read.file)
    return read


def _bad_framework(one: Framework) -> list[Problem]:
    problems = [
        problem(f"strategies[{number}]", refusal)
        for number, name in enumerate(one.strategies)
        if (refusal := strategies.unknown(name)) is not None
    ]
    if one.strategies and one.strategy and one.strategy not in one.strategies:
        problems.append(problem("strategy", "strategy_not_among", known=list(one.strategies)))
    elif (refusal := strategies.unknown(one.strategy)) is not None:
        problems.append(problem("strategy", refusal))
    return problems


async def remove_framework(platform: Platform, caller: Caller, name: str, version: str) -> None:
    """Take a version of a framework out of the catalogue; jobs that have it keep what it gave them."""
    require_admin(caller, "change_frameworks")
    label = f"{name}:{version}"
    gone = await audit.change(
        platform,
        caller,
        "framework.removed",
        label,
        lambda connection: choice_queries.remove_framework(connection, name, version),
    )
    if not gone:
        raise NotFound("framework_unknown", framework=label[:260])
    await _reload(platform)


async def _reload(platform: Platform) -> None:
    # Through the writer, whose units run one after the other: the last to load has seen every change.
    await platform.store.write(lambda tx: platform.choices.load(tx.connection))
