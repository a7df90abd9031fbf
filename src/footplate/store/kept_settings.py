"""Settings that the database keeps: a document for each name, and a sealed part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from footplate.store.rows import dumps
from footplate.store.tables import kept_settings


def read(connection: sa.Connection, name: str) -> tuple[dict[str, Any], bytes | None]:
    """What was set under a name, nothing when nothing was, and its sealed part."""
    row = connection.execute(sa.select(kept_settings).where(kept_settings.c.name == name)).first()
    if row is None:
        return {}, None
    return dict(json.loads(row.document)), None if row.sealed is None else bytes(row.sealed)


def put(
    connection: sa.Connection, name: str, document: Mapping[str, Any], sealed: bytes | None = None
) -> None:
    """Keep a document in place of the one of its name."""
    connection.execute(sa.delete(kept_settings).where(kept_settings.c.name == name))
    row = {"name": name, "document": dumps(dict(document)), "sealed": sealed}
    connection.execute(sa.insert(kept_settings), row)
