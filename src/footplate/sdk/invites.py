"""Calls about invitations: made and revoked by admins, followed by those who are invited."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from footplate.sdk.connection import Connection


class InviteCalls:
    """The part of the client that knows invitations."""

    _connection: Connection

    def invite(self, user: str, **fields: Any) -> dict[str, Any]:
        """Invite somebody; the answer holds the link, and a line for a machine without the client."""
        answer: dict[str, Any] = self._connection.send("POST", "/invites", {"user": user, **fields})
        return answer

    def invites(self) -> list[dict[str, Any]]:
        """List the invitations that nobody has followed yet."""
        items: list[dict[str, Any]] = self._connection.fetch("/invites")["items"]
        return items

    def revoke_invite(self, user: str) -> None:
        self._connection.send("DELETE", f"/invites/{quote(user, safe='')}")

    def lookup_invite(self, code: str) -> dict[str, Any]:
        """Say whom an invitation is for."""
        answer: dict[str, Any] = self._connection.send("POST", "/invites/lookup", {"code": code})
        return answer

    def accept_invite(
        self, code: str, password: str, name: str = "sdk", expires_in_s: int | None = None
    ) -> dict[str, Any]:
        """Make the account that an invitation is for, with a password of one's own; return a token."""
        body = {"code": code, "password": password, "name": name, "expires_in_s": expires_in_s}
        answer: dict[str, Any] = self._connection.send("POST", "/invites/accept", body)
        return answer
