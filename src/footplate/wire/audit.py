"""Bodies of the REST API for the audit log."""

from __future__ import annotations

from typing import Any

from footplate.wire.body import Body


class AuditBody(Body):
    seq: int
    at: str
    actor: str
    action: str
    subject: str
    detail: dict[str, Any]


class Audit(Body):
    items: list[AuditBody]
