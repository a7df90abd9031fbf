"""Which machines there are: each engine is asked now and then."""

from __future__ import annotations

from collections.abc import Callable

from footplate.control.context import Context
from footplate.engines.base import Engine, OffersNodes


async def refresh_nodes(context: Context, name: str, engine: Engine, replan: Callable[[], None]) -> None:
    """Take over an engine's view of its nodes, and plan again when it has changed."""
    of_engine = "" if name == context.engines.default else name
    if isinstance(engine, OffersNodes) and context.cluster.take_nodes(await engine.nodes(), of_engine):
        replan()
