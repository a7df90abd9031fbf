"""Environments: those that the engines have built, and the removal of what nobody uses."""

from __future__ import annotations

from collections.abc import Sequence

from footplate.control.context import Context
from footplate.control.living import Living
from footplate.domain.environment import BuiltEnvironment
from footplate.domain.errors import NotFound
from footplate.engines.base import BuildsEnvironments, Engine


class Environments:
    """The environments of all engines that build any."""

    def __init__(self, context: Context) -> None:
        self._engines = context.engines
        self._living = Living(context.store.board)

    async def all(self) -> Sequence[BuiltEnvironment]:
        return [built for engine in self._builders() for built in await engine.environments(self._living)]

    async def log_of(self, environment_id: str) -> str:
        """Read what the build of one printed."""
        return await (await self._builder_of(environment_id)).environment_log(environment_id)

    async def remove(self, environment_id: str) -> None:
        """Remove one; raise `Conflict` while it is built or a job uses it."""
        await (await self._builder_of(environment_id)).remove_environment(environment_id, self._living)

    async def _builder_of(self, environment_id: str) -> BuildsEnvironments:
        for engine in self._builders():
            if any(built.id == environment_id for built in await engine.environments(self._living)):
                return engine
        raise NotFound("no_such_environment", environment=environment_id[:64])

    def _builders(self) -> list[BuildsEnvironments]:
        return [engine for _, engine in self._engines if isinstance(engine, BuildsEnvironments)]


async def sweep_environments(context: Context, engine: Engine) -> None:
    """Have an engine remove environments that nobody has used for long."""
    if isinstance(engine, BuildsEnvironments):
        await engine.sweep_environments(Living(context.store.board))
