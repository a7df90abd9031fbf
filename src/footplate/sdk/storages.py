"""Calls about storages; the files on one are `client.storage(NAME)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from footplate.sdk.connection import Connection

if TYPE_CHECKING:
    from footplate.sdk.storage import Storage


class StorageCalls:
    """The part of the client that knows storages."""

    _connection: Connection

    def storages(self) -> list[dict[str, Any]]:
        """List the storages that I and my jobs may use."""
        items: list[dict[str, Any]] = self._connection.fetch("/storages")["items"]
        return items

    def storage(self, name: str) -> Storage:
        """The files of one storage: list, read, write, upload, download."""
        from footplate.sdk.storage import Storage

        return Storage(self._connection, name)

    def add_storage(self, name: str, **fields: Any) -> dict[str, Any]:
        """Add a storage (admin): `kind="s3"`, `bucket`, `endpoint`, `credentials` and others."""
        made: dict[str, Any] = self._connection.send("POST", "/storages", {"name": name, **fields})
        return made

    def edit_storage(self, name: str, **fields: Any) -> dict[str, Any]:
        """Change a storage that is kept in the database (admin)."""
        changed: dict[str, Any] = self._connection.send("PATCH", _path(name), fields)
        return changed

    def delete_storage(self, name: str) -> None:
        """Forget a storage (admin); its files stay where they are."""
        self._connection.send("DELETE", _path(name))

    def check_storage(self, name: str) -> None:
        """Ask a storage for its files; raise what it answers instead (admin)."""
        self._connection.send("POST", f"{_path(name)}/check")


def _path(name: str) -> str:
    return f"/storages/{quote(name, safe='')}"
