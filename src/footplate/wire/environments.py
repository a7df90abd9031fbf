"""Environments over REST."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from footplate.domain.attempt import job_of
from footplate.domain.environment import BuiltEnvironment
from footplate.wire.body import Body
from footplate.wire.convert import instant


class EnvironmentBody(Body):
    id: str
    owner: str
    kind: str = Field(description="requirements, pyproject or conda.")
    what: str = Field(description="The file of the code, or the first requirements.")
    python: str = Field(description="The requested Python version; empty: that of the node or the image.")
    image: str = Field(description="The image that the packages were added to; empty: for jobs without one.")
    is_building: bool = Field(description="Whether it is being built; its jobs wait for it then.")
    size_bytes: int = Field(description="What it takes of the disk; 0 while it is being built.")
    built_at: str = Field(description="When it was built, or its build began.")
    used_at: str = Field(description="When a job last started with it.")
    jobs: list[str] = Field(description="Ids of the jobs that use it now; it cannot be removed meanwhile.")


class Environments(Body):
    items: list[EnvironmentBody]


def environment_view(built: BuiltEnvironment) -> dict[str, Any]:
    return {
        "id": built.id,
        "owner": built.owner,
        "kind": built.kind,
        "what": built.what,
        "python": built.python,
        "is_building": built.is_building,
        "image": built.image,
        "size_bytes": built.size_bytes,
        "built_at": instant(built.built_at),
        "used_at": instant(built.used_at),
        "jobs": sorted({job_of(attempt) for attempt in built.attempts}),
    }
