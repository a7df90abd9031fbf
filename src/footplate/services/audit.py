"""The trail of who changed what on the platform, written with each change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import sqlalchemy as sa

from footplate.domain.choices import Framework, InstanceType
from footplate.domain.cluster import Queue
from footplate.domain.environmentfields import ENVIRONMENT
from footplate.domain.job import Job
from footplate.domain.resources import Resources
from footplate.domain.spec import EnvironmentSpec
from footplate.services.access import Caller, require_admin
from footplate.services.platform import Platform
from footplate.store import audit_queries
from footplate.store.audit_queries import AuditFilter, AuditRecord
from footplate.store.writer import Transaction

T = TypeVar("T")
Kept = TypeVar("Kept", Queue, InstanceType, Framework)
# What one value was and became, by its name. A value that nobody may read is told as changed only: None.
Changes = dict[str, tuple[Any, Any] | None]


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


async def note(platform: Platform, caller: Caller, action: str, subject: str, **detail: Any) -> None:
    """Note what somebody did that changed no row."""
    await change(platform, caller, action, subject, lambda _connection: None, **detail)


def note_job(tx: Transaction, at: float, caller: Caller, verb: str, job: Job) -> None:
    """Note what somebody did to a job of somebody else; what owners do is in the job's own events."""
    if caller.name != job.owner:
        detail = {"name": job.spec.name, "owner": job.owner, "queue": job.spec.queue}
        audit_queries.record(tx.connection, at, caller.name, f"job.{verb}", job.id, detail)


def changes_of(before: Kept, after: Kept) -> Changes:
    """What differs between two states of something; that it was changed goes without saying."""
    pairs = ((one.name, getattr(before, one.name), getattr(after, one.name)) for one in fields(after))
    return {
        name: (_plain(old), _plain(new))
        for name, old, new in pairs
        if old != new and name not in ("created_at", "updated_at")
    }


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Resources):
        return {"cpus": value.milli_cpus / 1000, "memory_bytes": value.memory_bytes, "gpus": value.gpus}
    if isinstance(value, EnvironmentSpec):
        return ENVIRONMENT.write(value)
    return list(value) if isinstance(value, tuple) else value


async def page(
    platform: Platform, caller: Caller, wanted: AuditFilter, before: int | None, limit: int
) -> list[AuditRecord]:
    """The trail, newest first."""
    require_admin(caller, "read_audit_trail")
    return await platform.store.read(lambda connection: audit_queries.page(connection, wanted, before, limit))
