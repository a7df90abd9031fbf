"""The texts that jobs of other systems were made from."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from footplate.store import statements
from footplate.store.tables import originals

_INSERT = statements.insert(originals)


@dataclass(frozen=True, slots=True)
class Original:
    """A job file of another system, its secrets masked."""

    dialect: str
    text: str


def put(connection: sa.Connection, job_id: str, original: Original) -> None:
    _INSERT.run(connection, [{"job_id": job_id, "dialect": original.dialect, "text": original.text}])


def find(connection: sa.Connection, job_id: str) -> Original | None:
    row = connection.execute(sa.select(originals).where(originals.c.job_id == job_id)).first()
    return None if row is None else Original(row.dialect, row.text)
