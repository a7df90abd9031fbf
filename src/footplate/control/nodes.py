"""Which machines there are: each engine is asked now and then."""

from __future__ import annotations

from collections.abc import Callable

from footplate.control.context import Context
from footplate.domain.errors import EngineUnavailable
from footplate.engines.base import Engine, OffersNodes


async def refresh_nodes(context: Context, name: str, engine: Engine, replan: Callable[[], None]) -> None:
    """Take over an engine's view of its nodes, and plan again when it has changed."""
    health = context.engines.health[name]
    if not isinstance(engine, OffersNodes) or health.holds:
        return
    try:
        found = await engine.nodes()
    except EngineUnavailable as error:
        health.fail(error.said)
        raise
    # Before it counts as there again: a pass must not see it with the nodes that it had before.
    has_changed = context.cluster.take_nodes(found, name)
    health.succeed()
    if has_changed:
        replan()
