"""Environments: everybody sees and removes their own, platform admins all."""

from __future__ import annotations

from collections.abc import Sequence

from footplate.domain.environment import BuiltEnvironment
from footplate.domain.errors import Denied, NotFound
from footplate.services import audit
from footplate.services.access import Caller
from footplate.services.platform import Platform


async def mine(platform: Platform, caller: Caller) -> Sequence[BuiltEnvironment]:
    """The caller's environments, for admins all; the one that was used last comes first."""
    seen = [one for one in await platform.environments.all() if caller.is_admin or one.owner == caller.name]
    return sorted(seen, key=lambda one: one.used_at, reverse=True)


async def log_of(platform: Platform, caller: Caller, environment_id: str) -> str:
    """Read what the build of one of the caller's environments printed."""
    await _require_mine(platform, caller, environment_id)
    return await platform.environments.log_of(environment_id)


async def remove(platform: Platform, caller: Caller, environment_id: str) -> None:
    """Remove an environment that no job uses; a job that asks for the same has it built again."""
    if caller.job_id is not None:
        raise Denied("job_token_no_environments")
    await _require_mine(platform, caller, environment_id)
    await platform.environments.remove(environment_id)
    await audit.note(platform, caller, "environment.removed", environment_id)


async def _require_mine(platform: Platform, caller: Caller, environment_id: str) -> None:
    """Raise `NotFound` also for one of somebody else: nobody learns what others have installed."""
    if environment_id not in {one.id for one in await mine(platform, caller)}:
        raise NotFound("no_such_environment", environment=environment_id[:64])
