"""Bodies of the REST API for the platform itself: health, settings, strategies, uploads."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from footplate.wire.body import Amount, Body
from footplate.wire.queues import QueueBody


class SettingsBody(Body):
    """How the server is set up."""

    version: str
    home: str
    url: str
    database: str
    log_cap_bytes: int
    trash_kept_s: float
    idle_limit_s: float | None
    limits: bool
    container_socket: str | None = Field(description="As set; null when it is looked for.")
    file: str = Field(description="Where these can be changed; the server reads it at start.")


class StrategyBody(Body):
    name: str
    description: str


class Strategies(Body):
    items: list[StrategyBody]


class Upload(Body):
    upload: str
    size_bytes: int


class ResourceUse(Body):
    total: Amount
    used: Amount


class Summary(Body):
    """The platform at a glance, as far as the caller may see it."""

    jobs: dict[str, int]
    finished_today: dict[str, int]
    resources: ResourceUse
    queues: list[QueueBody]


class Version(Body):
    version: str
    api: str


class Health(Body):
    status: str = Field(description="ok, or disk_low while nothing new is taken.")
    message: str = Field("", description="What is not well; left out when all is.")
    message_code: str = ""
    params: dict[str, Any] = Field({})
