"""Copies a whole database, SQLite or PostgreSQL, into one SQLite file, and restores it to either.

Both kinds have the same tables, so a copy of one can become the other.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from footplate.domain.errors import Conflict, InvalidInput
from footplate.store.alltables import metadata
from footplate.store.database import open_engine
from footplate.store.migrate import HEAD, known_versions, migrate, version

ROWS_AT_ONCE = 1000
# Without the log of changes beside it that belongs to a living database.
_ONE_FILE = "PRAGMA journal_mode=DELETE"


def copy_out(engine: sa.Engine, into: Path) -> str:
    """Write what a database holds at one moment into a new file; say the version of its tables."""
    os.close(os.open(into, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    if engine.dialect.name == "sqlite":
        return _copy_sqlite(Path(engine.url.database or ""), into)
    return _copy_rows_out(engine, into)


def _copy_sqlite(source: Path, into: Path) -> str:
    if not source.is_file():
        raise InvalidInput("no_database", database=str(source))
    with (
        closing(sqlite3.connect(f"file:{source}?mode=rw", uri=True, timeout=30)) as living,
        closing(sqlite3.connect(into)) as copy,
    ):
        # In one step: a reader holds nobody up, and what is written meanwhile cannot make it begin anew.
        living.backup(copy, pages=-1)
        copy.execute(_ONE_FILE)
        (state,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise Conflict("database_damaged", database=str(source), state=str(state))
    return version_of(into)


def version_of(file: Path) -> str:
    """The version of the tables in a copy; raise `InvalidInput` when it is none of ours."""
    engine = open_engine(f"sqlite:///{file}")
    try:
        found = version(engine)
    except sa.exc.DatabaseError as error:
        raise InvalidInput("not_database", file=str(file), error=str(error.orig)) from error
    finally:
        engine.dispose()
    if found is None:
        raise InvalidInput("no_tables", file=str(file))
    return found


def _copy_rows_out(engine: sa.Engine, into: Path) -> str:
    copy = open_engine(f"sqlite:///{into}")
    try:
        migrate(copy)
        with engine.connect().execution_options(isolation_level="REPEATABLE READ") as source, source.begin():
            found = version(engine)
            if found != HEAD:
                raise Conflict("tables_of_other_version", found=found, known=HEAD)
            with copy.execution_options(footplate_writer=True).begin() as target:
                _copy_rows(source, target)
    finally:
        copy.dispose()
    with closing(sqlite3.connect(into)) as settled:
        settled.execute(_ONE_FILE)
    return HEAD


def copy_in(file: Path, engine: sa.Engine) -> None:
    """Fill a database with a copy, which is brought to the newest version of the tables first."""
    copy = open_engine(f"sqlite:///{file}")
    try:
        migrate(copy)
        migrate(engine)
        with (
            copy.connect() as source,
            engine.execution_options(footplate_writer=True).begin() as target,
        ):
            _copy_rows(source, target)
            _go_on_counting(target)
    finally:
        copy.dispose()


def refuse_used(engine: sa.Engine) -> None:
    """Raise `Conflict` unless a database is empty."""
    with engine.connect() as connection:
        if sa.inspect(connection).get_table_names():
            where = engine.url.render_as_string(hide_password=True)
            raise Conflict("database_not_empty", database=where)


def refuse_unknown(found: str, made_by: str) -> None:
    """Raise `Conflict` for tables that a later version of Footplate has made."""
    if found not in known_versions():
        raise Conflict("tables_too_new", version=made_by, found=found, known=HEAD)


def _copy_rows(source: sa.Connection, target: sa.Connection) -> None:
    for table in metadata.sorted_tables:
        target.execute(sa.delete(table))
        rows = source.execution_options(yield_per=ROWS_AT_ONCE).execute(sa.select(table))
        for some in rows.mappings().partitions():
            target.execute(sa.insert(table), [dict(row) for row in some])


def _go_on_counting(target: sa.Connection) -> None:
    """Let PostgreSQL number new rows behind those that came with their numbers."""
    if target.dialect.name != "postgresql":
        return
    for table in metadata.sorted_tables:
        column = table.autoincrement_column
        if column is not None and column.autoincrement is True:
            last = sa.select(sa.func.coalesce(sa.func.max(column), 0) + 1).scalar_subquery()
            sequence = sa.func.pg_get_serial_sequence(table.name, column.name)
            target.execute(sa.select(sa.func.setval(sequence, last, sa.false())))
