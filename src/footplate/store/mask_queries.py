"""What is masked in the output of jobs, sealed."""

from __future__ import annotations

import sqlalchemy as sa

from footplate.store import statements
from footplate.store.tables import masks

_PUT = statements.upsert(masks)


def put(connection: sa.Connection, job_id: str, sealed: bytes) -> None:
    _PUT.run(connection, [{"job_id": job_id, "sealed": sealed}])


def find(connection: sa.Connection, job_id: str) -> bytes | None:
    return connection.scalar(sa.select(masks.c.sealed).where(masks.c.job_id == job_id))
