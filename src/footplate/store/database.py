"""Opening the database: SQLite in the home folder, or PostgreSQL by URL."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from footplate.domain.errors import InvalidInput

CONNECT_S = 10


def sqlite_url(home: Path) -> str:
    return f"sqlite:///{home / 'footplate.db'}"


def open_engine(url: str) -> sa.Engine:
    """Open a database; SQLite gets write-ahead logging and a full sync at every commit."""
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _open_sqlite(parsed)
    if parsed.get_backend_name() == "postgresql":
        return sa.create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            pool_size=6,
            max_overflow=4,
            pool_pre_ping=True,
            connect_args={} if "connect_timeout" in parsed.query else {"connect_timeout": CONNECT_S},
        )
    raise InvalidInput("not_database_url", "database.url", given=parsed.get_backend_name())


def _open_sqlite(url: sa.URL) -> sa.Engine:
    if url.database and url.database != ":memory:":
        _close_to_others(url.database)
    engine = sa.create_engine(
        url, pool_size=6, max_overflow=4, connect_args={"check_same_thread": False, "timeout": 30}
    )

    @sa.event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        # The driver must not open transactions by itself: `_begin` does, and takes the write lock at once.
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "cache_size=-16000", "temp_store=MEMORY"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        is_writer = connection.get_execution_options().get("footplate_writer", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writer else "BEGIN")

    return engine


def _close_to_others(database: str) -> None:
    """Make the file before SQLite does, for us alone; what SQLite lays beside it gets the file's mode."""
    # What belongs to somebody else is theirs to open and close; SQLite says why it cannot be used.
    with contextlib.suppress(OSError):
        os.close(os.open(database, os.O_RDWR | os.O_CREAT, 0o600))
        for path in (database, f"{database}-wal", f"{database}-shm"):
            with contextlib.suppress(FileNotFoundError):
                Path(path).chmod(0o600)
