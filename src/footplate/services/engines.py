"""The engines of this server as callers see them, and whether a queue can use the one that it is bound to."""

from __future__ import annotations

from footplate.domain.cluster import EngineFacts, Queue
from footplate.domain.errors import InvalidInput
from footplate.domain.messages import Message, say
from footplate.engines.base import Capabilities
from footplate.services.platform import Platform


def all_engines(platform: Platform) -> list[EngineFacts]:
    engines = platform.engines
    return [
        _facts(name, name == engines.default, engine.capabilities, engines.health[name].away)
        for name, engine in engines
    ]


def _facts(name: str, is_default: bool, can: Capabilities, away: Message | None) -> EngineFacts:
    return EngineFacts(
        name=name,
        is_default=is_default,
        places_itself=can.places_itself,
        chooses=tuple(sorted(can.chooses)),
        limits=tuple(sorted(can.limits)),
        runs_images=can.no_images is None,
        runs_commands=can.streams,
        away=away,
    )


def require_known(platform: Platform, name: str) -> None:
    """Raise `InvalidInput` when a queue is to be bound to an engine that this server does not have."""
    if name and name not in platform.engines:
        known = [known for known, _ in platform.engines]
        raise InvalidInput("engine_unknown", "engine", engine=name, known=known)


def problem_of(platform: Platform, queue: Queue) -> Message | None:
    """Say why jobs of a queue cannot be started on the engine that it is bound to, if so."""
    name = platform.engines.bind(queue).engine
    if not name:
        return None
    if name not in platform.engines:
        return say("queue_without_engine", queue=queue.name, engine=name)
    away = platform.engines.health[name].away
    return None if away is None else say("engine_away", engine=name, why=away)
