"""All engines of this server by name: each job finds its own by where it was placed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

from footplate.domain.errors import EngineUnavailable, Problem
from footplate.domain.job import Job
from footplate.domain.spec import JobSpec
from footplate.engines.base import ChecksPorts, Engine

LOCAL = "local"


class Engines:
    """The first is the default: jobs run there whose placement does not say otherwise."""

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        self._engines = dict(engines)
        self.default = next(iter(self._engines))

    def __iter__(self) -> Iterator[tuple[str, Engine]]:
        return iter(self._engines.items())

    def name_of(self, job: Job) -> str:
        named = job.placement.engine if job.placement is not None else ""
        return named or self.default

    def of(self, job: Job) -> Engine:
        """Find the engine of a job; raise `EngineUnavailable` when it is no longer configured."""
        name = self.name_of(job)
        if name not in self._engines:
            raise EngineUnavailable("engine_not_configured", engine=name)
        return self._engines[name]

    def refuses(self, spec: JobSpec, environments: Mapping[str, str]) -> Problem | None:
        """Say why no engine would ever run a job: what the first says, when all of them refuse."""
        problems = [engine.refuses(spec, environments) for engine in self._engines.values()]
        return None if None in problems else problems[0]

    def is_port_free(self, engine: str, node: str, port: int) -> bool:
        """Ask the engine of a node whether nobody listens on one of its ports."""
        asked = self._engines.get(engine or self.default)
        return not isinstance(asked, ChecksPorts) or asked.is_port_free(node, port)

    async def close(self) -> None:
        await asyncio.gather(*(engine.close() for engine in self._engines.values()))


def one_engine(engine: Engine) -> Engines:
    """The engines of a server that has one."""
    return Engines({LOCAL: engine})
