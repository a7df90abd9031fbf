"""Translates errors of the database driver into messages that say what to do."""

from __future__ import annotations

import sqlalchemy as sa

from footplate.domain.errors import DiskFull, StoreUnavailable

# The errors of a database that is not there; all others are our own.
GONE = (sa.exc.OperationalError, sa.exc.InterfaceError)


def is_full(error: Exception) -> bool:
    """Tell whether an error of a database is for lack of room on its disk."""
    said = str(error.orig) if isinstance(error, sa.exc.DBAPIError) else ""
    return "disk is full" in said or "No space left" in said


def may_be_full(error: Exception) -> bool:
    """Tell whether an error may be for lack of room: SQLite says no more of the files beside its own."""
    said = str(error.orig) if isinstance(error, sa.exc.DBAPIError) else ""
    return "disk I/O error" in said or "unable to open database file" in said or is_full(error)


def translate(error: sa.exc.DBAPIError) -> StoreUnavailable:
    """Translate an error of the database for the caller."""
    if is_full(error):
        return DiskFull("disk_is_full")
    said = str(error.orig).strip()
    if "database is locked" in said:
        return StoreUnavailable("database_locked")
    return StoreUnavailable("database_unusable", error=said.splitlines()[0] if said else "?")
