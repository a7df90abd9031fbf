"""Bodies of the REST API for the platform itself: health, settings, strategies, uploads."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from footplate.wire.body import Amount, Body
from footplate.wire.queues import QueueBody


class SettingBody(Body):
    name: str
    value: Any = Field(description="As the file would have it.")
    is_default: bool
    source: str = Field(
        description="Where it comes from: default, console, file, command_line, or the name of a variable."
    )
    is_live: bool = Field(description="Whether admins can change it while the server runs.")
    help: str


class SettingChange(Body):
    value: Any = Field(description="As the settings file would have it; null for no bound.")


class SettingsBody(Body):
    """How the server is set up."""

    version: str
    home: str
    url: str
    database: str
    file: str = Field(description="Where these can be changed; the server reads it at start.")
    items: list[SettingBody] = Field(description="All settings, except what may hold a password.")


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

    trash_kept_s: float = Field(description="How long deleted jobs can be restored.")
    jobs: dict[str, int]
    finished_today: dict[str, int]
    resources: ResourceUse
    queues: list[QueueBody]


class UsePoint(Body):
    """What jobs held on average in one step."""

    cpus: float
    memory_bytes: float
    gpus: float


class HistoryBody(Body):
    """What jobs held in the last 24 hours, of what there is now."""

    begin_at: str
    step_s: float
    points: list[UsePoint | None] = Field(description="Null where too many jobs ended to count them.")
    total: Amount


class Version(Body):
    version: str
    api: str


class Health(Body):
    status: str = Field(description="ok, or disk_low while nothing new is taken.")
    message: str = Field("", description="What is not well; left out when all is.")
    message_code: str = ""
    params: dict[str, Any] = Field({})
