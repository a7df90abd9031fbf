"""Keeps the list of nodes up to date by asking the engine periodically."""

from __future__ import annotations

from collections.abc import Callable

from footplate.control.context import Context
from footplate.engines.base import OffersNodes


async def refresh_nodes(context: Context, replan: Callable[[], None]) -> None:
    """Take over the engine's view of its nodes, and plan again when it has changed."""
    engine = context.engine
    if isinstance(engine, OffersNodes) and context.cluster.take_nodes(await engine.nodes()):
        replan()
