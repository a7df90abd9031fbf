"""What databases say when they cannot work now, in words that say what to do."""

from __future__ import annotations

import sqlalchemy as sa

from footplate.domain.errors import DiskFull, StoreUnavailable

DISK_FULL = (
    "the server's disk is full: nothing can be stored until there is room again; "
    "what was answered before is safe"
)
LOCKED = "another process has locked the server's database: try again in a moment"

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
    """Say what a database's error means for whoever asked."""
    if is_full(error):
        return DiskFull(DISK_FULL)
    said = str(error.orig).strip()
    if "database is locked" in said:
        return StoreUnavailable(LOCKED)
    first = said.splitlines()[0] if said else "it does not answer"
    return StoreUnavailable(f"the server's database cannot be used now: {first}; try again in a moment")
