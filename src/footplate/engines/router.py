"""All engines of this server by name: each job finds its own by its queue, or by where it was placed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace

from footplate.domain.clock import Clock
from footplate.domain.cluster import EngineState, Queue
from footplate.domain.errors import EngineUnavailable
from footplate.domain.job import Job
from footplate.engines.base import ChecksPorts, Engine
from footplate.engines.health import Health

LOCAL = "local"


class Engines:
    """The first is the default: jobs run there whose placement does not say otherwise."""

    def __init__(self, engines: Mapping[str, Engine], clock: Clock) -> None:
        self._engines = dict(engines)
        self.default = next(iter(self._engines))
        self.health = {name: Health(clock) for name in self._engines}
        # Looked up once: every pass asks.
        self._checking_ports = {name: one for name, one in engines.items() if isinstance(one, ChecksPorts)}
        self._placing = {name for name, engine in engines.items() if engine.capabilities.places_itself}

    def __iter__(self) -> Iterator[tuple[str, Engine]]:
        return iter(self._engines.items())

    def __contains__(self, name: str) -> bool:
        return name in self._engines

    def __getitem__(self, name: str) -> Engine:
        return self._engines[name]

    def name_of(self, job: Job) -> str:
        named = job.placement.engine if job.placement is not None else ""
        return named or self.default

    def of(self, job: Job) -> Engine:
        """Find the engine of a job; raise `EngineUnavailable` when it is no longer configured."""
        name = self.name_of(job)
        if name not in self._engines:
            raise EngineUnavailable("engine_not_configured", engine=name)
        return self._engines[name]

    def bind(self, queue: Queue) -> Queue:
        """Bind a queue that may use the nodes of any engine to the default one, where that places by itself.

        It has no nodes to offer, and takes every job that has no other engine.
        """
        is_bound = queue.engine or self.default not in self._placing
        return queue if is_bound else replace(queue, engine=self.default)

    def places(self, queue: Queue) -> bool:
        """Tell whether the engine of a queue places jobs by itself: nobody here knows its nodes then."""
        return self.bind(queue).engine in self._placing

    def of_queue(self, queue: Queue) -> list[Engine]:
        """List the engines that may run jobs of a queue; none when its engine is not configured."""
        bound = self.bind(queue).engine
        if bound:
            return [self._engines[bound]] if bound in self._engines else []
        return [engine for name, engine in self._engines.items() if name not in self._placing]

    def states(self) -> tuple[EngineState, ...]:
        """Say how the engines are, as the scheduler sees them."""
        return tuple(
            EngineState(name, name in self._placing, self.health[name].away) for name in self._engines
        )

    def is_port_free(self, engine: str, node: str, port: int) -> bool:
        """Ask the engine of a node whether nobody listens on one of its ports."""
        asked = self._checking_ports.get(engine or self.default)
        return asked is None or asked.is_port_free(node, port)

    async def close(self) -> None:
        await asyncio.gather(*(engine.close() for engine in self._engines.values()))


def one_engine(engine: Engine, clock: Clock) -> Engines:
    """The engines of a server that has one."""
    return Engines({LOCAL: engine}, clock)
