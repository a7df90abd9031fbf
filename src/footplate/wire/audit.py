"""Bodies of the REST API for the audit log."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from footplate.wire.body import Body


class AuditBody(Body):
    seq: int
    at: str
    actor: str
    action: str
    subject: str
    detail: dict[str, Any] = Field(
        description="Facts of the change; `changes` has for each value what it was and what it became."
    )


class Audit(Body):
    items: list[AuditBody]
