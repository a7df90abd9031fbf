"""Bodies of the REST API for the event log."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from footplate.domain.eventkinds import EventKind
from footplate.wire.body import Body, Told


class EventBody(Told):
    seq: int
    at: str
    job_id: str
    kind: EventKind
    attempt: int
    actor: str
    data: dict[str, Any]
    cause: int | None = Field(
        description="The number of the event that led to this one; null where a person or the world did."
    )


class Events(Body):
    items: list[EventBody]
    next_after: int
