"""Calls about what is kept: sizes, and sweeps."""

from __future__ import annotations

from typing import Any

from footplate.sdk.connection import Connection


class RetentionCalls:
    """The part of the client that knows how much of the disk is taken by what."""

    _connection: Connection

    def sizes(self) -> dict[str, Any]:
        """Say how much of the disk my jobs and models take; platform admins see everybody."""
        found: dict[str, Any] = self._connection.fetch("/sizes")
        return found

    def sweep(self, *, dry_run: bool = False) -> dict[str, Any]:
        """Remove now what is kept no longer (admin), or only say what that would be."""
        params = {"dry_run": "true"} if dry_run else {}
        found: dict[str, Any] = self._connection.send("POST", "/sweep", params=params, timeout=None)
        return found
