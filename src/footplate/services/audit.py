"""The trail of who changed what on the platform, written with each change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import sqlalchemy as sa

from footplate.services.access import Caller, require_admin
from footplate.services.platform import Platform
from footplate.store import audit_queries
from footplate.store.audit_queries import AuditRecord
from footplate.store.writer import Transaction

T = TypeVar("T")


async def change(
    platform: Platform,
    caller: Caller,
    action: str,
    subject: str,
    unit: Callable[[sa.Connection], T],
    **detail: Any,
) -> T:
    """Make a change and note who made it, in one commit; a unit that answers False or 0 changed nothing."""

    def noted(tx: Transaction) -> T:
        result = unit(tx.connection)
        if result is None or result:
            now = platform.clock.now()
            audit_queries.record(tx.connection, now, caller.name, action, subject, detail)
        return result

    return await platform.store.write(noted)


async def page(
    platform: Platform, caller: Caller, before: int | None, actor: str, limit: int
) -> list[AuditRecord]:
    """The trail, newest first."""
    require_admin(caller, "read_audit_trail")
    return await platform.store.read(lambda connection: audit_queries.page(connection, before, actor, limit))
