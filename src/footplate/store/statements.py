"""The statements of the hot path, compiled once for each kind of database and run over many rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import Dialect


class Statement:
    """A write with named values. Its text is put into the driver's own form once, not at every call."""

    def __init__(self, text: str) -> None:
        self._text = sa.text(text)
        self._compiled: dict[str, tuple[str, list[str] | None]] = {}

    def run(self, connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> int:
        """Run the statement for every row; return how many rows it touched in all."""
        text, order = self._compiled.get(connection.dialect.name) or self._compile(connection.dialect)
        values = (
            [dict(row) for row in rows] if order is None else [tuple(row[n] for n in order) for row in rows]
        )
        return connection.exec_driver_sql(text, values).rowcount

    def _compile(self, dialect: Dialect) -> tuple[str, list[str] | None]:
        compiled = self._text.compile(dialect=dialect)
        order = list(compiled.positiontup) if compiled.positional and compiled.positiontup else None
        self._compiled[dialect.name] = (str(compiled), order)
        return self._compiled[dialect.name]


def insert(table: sa.Table) -> Statement:
    return Statement(_insert(table))


def insert_or_skip(table: sa.Table) -> Statement:
    """Insert rows that clash with nothing."""
    return Statement(f"{_insert(table)} ON CONFLICT DO NOTHING")


def upsert(table: sa.Table) -> Statement:
    """Insert rows, or overwrite those of the same key."""
    keys = [column.name for column in table.primary_key.columns]
    sets = [f"{column.name} = excluded.{column.name}" for column in table.columns if column.name not in keys]
    return Statement(f"{_insert(table)} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {', '.join(sets)}")


def update(table: sa.Table, columns: Sequence[str], condition: str) -> Statement:
    sets = ", ".join(f"{name} = :{name}" for name in columns)
    return Statement(f"UPDATE {table.name} SET {sets} WHERE {condition}")  # noqa: S608  # names of our own


def _insert(table: sa.Table) -> str:
    columns = [column.name for column in table.columns]
    values = ", ".join(f":{name}" for name in columns)
    return f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({values})"  # noqa: S608  # names of our own
