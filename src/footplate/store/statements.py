"""The statements of the hot path, compiled once for each kind of database and run over many rows.

On SQLite they go to the driver itself, since half of what a small statement costs is spent on the way there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import Dialect

Values = Mapping[str, Any]


class Statement:
    """SQL with named values. Its text is put into the driver's own form once, not at every call."""

    def __init__(self, text: str) -> None:
        self._text = sa.text(text)
        self._compiled: dict[str, tuple[str, list[str] | None]] = {}

    def run(self, connection: sa.Connection, rows: Sequence[Values]) -> int:
        """Run the statement for every row; return how many rows it touched in all."""
        text, order = self._compiled.get(connection.dialect.name) or self._compile(connection.dialect)
        if order is None:
            return connection.exec_driver_sql(text, [dict(row) for row in rows]).rowcount
        values = [tuple([row[name] for name in order]) for row in rows]
        if connection.dialect.name == "sqlite":
            return _run_on_sqlite(connection, text, values).rowcount
        return connection.exec_driver_sql(text, values).rowcount

    def first(self, connection: sa.Connection, values: Values) -> Sequence[Any] | None:
        """Run a query and return its first row."""
        text, order = self._compiled.get(connection.dialect.name) or self._compile(connection.dialect)
        if order is None:
            return connection.exec_driver_sql(text, dict(values)).first()
        given = tuple([values[name] for name in order])
        if connection.dialect.name == "sqlite":
            row: Sequence[Any] | None = _run_on_sqlite(connection, text, [given]).fetchone()
            return row
        return connection.exec_driver_sql(text, given).first()

    def _compile(self, dialect: Dialect) -> tuple[str, list[str] | None]:
        compiled = self._text.compile(dialect=dialect)
        order = list(compiled.positiontup) if compiled.positional and compiled.positiontup else None
        self._compiled[dialect.name] = (str(compiled), order)
        return self._compiled[dialect.name]


def _run_on_sqlite(connection: sa.Connection, text: str, values: Sequence[tuple[Any, ...]]) -> sqlite3.Cursor:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    try:
        return driver.execute(text, values[0]) if len(values) == 1 else driver.executemany(text, values)
    except sqlite3.Error as error:
        # What went wrong is told as by any other statement.
        raise sa.exc.DBAPIError.instance(
            text, None, error, sqlite3.Error, dialect=connection.dialect
        ) from error


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
