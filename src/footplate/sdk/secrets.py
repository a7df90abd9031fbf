"""Calls about secrets: they are set, listed by name and deleted, never read."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from footplate.sdk.connection import Connection


class SecretCalls:
    """The part of the client that knows secrets; `queue` names one that is a queue's, not mine."""

    _connection: Connection

    def secrets(self) -> list[dict[str, Any]]:
        """List the secrets that my jobs may use, without their values."""
        items: list[dict[str, Any]] = self._connection.fetch("/secrets")["items"]
        return items

    def set_secret(self, name: str, value: str, *, queue: str | None = None) -> dict[str, Any]:
        """Store a value under a name."""
        return self._put(name, {"value": value, "queue": queue})

    def set_registry_secret(
        self, name: str, server: str, username: str, password: str, *, queue: str | None = None
    ) -> dict[str, Any]:
        """Store a login at a registry, with which private images are pulled."""
        login = {"server": server, "username": username, "password": password}
        return self._put(name, {"kind": "registry", "queue": queue, **login})

    def delete_secret(self, name: str, *, queue: str | None = None) -> None:
        self._connection.request("DELETE", _path(name), params={"queue": queue})

    def _put(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = self._connection.send("PUT", _path(name), body, is_repeatable=True)
        return answer


def _path(name: str) -> str:
    return f"/secrets/{quote(name, safe='')}"
