"""Public keys with which somebody comes in over SSH."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from footplate.sdk.connection import Connection


class SshKeyCalls:
    """The part of the client for SSH keys."""

    _connection: Connection

    def ssh_keys(self) -> list[dict[str, Any]]:
        """List one's own public keys."""
        items: list[dict[str, Any]] = self._connection.fetch("/me/ssh-keys")["items"]
        return items

    def add_ssh_key(self, public_key: str, name: str = "") -> dict[str, Any]:
        """Add a public key, as a line of a .pub file."""
        body = {"public_key": public_key, "name": name}
        answer: dict[str, Any] = self._connection.send("POST", "/me/ssh-keys", body)
        return answer

    def remove_ssh_key(self, key_id: str) -> None:
        self._connection.request("DELETE", f"/me/ssh-keys/{quote(key_id, safe='')}")
