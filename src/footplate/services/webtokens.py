"""Tokens in the form of JSON web tokens, for clients that look into theirs.

The text of such a token follows from its row and the server's secret, so that all can be listed, although
only their digests are stored. Who presents one is known by its digest, as with every token.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from footplate.domain.errors import Denied, NotFound
from footplate.services.access import Caller, require_person
from footplate.services.accounts import Accounts, digest_of
from footplate.store.account_queries import Token, User

LOGIN, APPLICATION = "OpenPAI", "OpenPAI application"
LIFETIME_S = 7 * 86400
_HEAD = {"alg": "HS256", "typ": "JWT"}


class WebTokens:
    """Issues, lists and revokes web tokens; signs with a key that follows from the server's secret."""

    def __init__(self, secret: bytes, accounts: Accounts) -> None:
        self._key = hmac.new(secret, b"web tokens", hashlib.sha256).digest()
        self._accounts = accounts

    async def login(self, name: str, password: str, address: str) -> tuple[str, User]:
        user = await self._accounts.verify(name, password, address)
        return await self._accounts.add_token(name, LOGIN, LIFETIME_S, self._write), user

    async def issue_for_program(self, caller: Caller) -> str:
        """Make a token that never expires, for a program."""
        require_person(caller, "make_tokens")
        return await self._accounts.add_token(caller.name, APPLICATION, None, self._write)

    async def all_of(self, caller: Caller) -> list[str]:
        tokens = await self._accounts.tokens(caller)
        return [self._write(token) for token in tokens if token.name in (LOGIN, APPLICATION)]

    async def revoke(self, caller: Caller, text: str) -> None:
        """Revoke a token of the caller; raise `Denied` for that of somebody else."""
        digest = digest_of(text)
        for token in await self._accounts.tokens(caller):
            if token.digest == digest:
                await self._accounts.revoke(caller, token.id)
                return
        if self.claims(text).get("username") not in (None, caller.name):
            raise Denied("token_of_other")
        raise NotFound("token_unknown", token="")

    def _write(self, token: Token) -> str:
        is_for_program = token.name == APPLICATION
        claims: dict[str, Any] = {
            "username": token.user,
            "application": is_for_program,
            "iat": int(token.created_at),
            "jti": token.id,
        }
        if token.expires_at is not None:
            claims["exp"] = int(token.expires_at)
        return self.sign(claims)

    def sign(self, claims: Mapping[str, Any]) -> str:
        content = f"{_pack(_HEAD)}.{_pack(claims)}"
        return f"{content}.{self._signature(content)}"

    def claims(self, text: str) -> dict[str, Any]:
        """What a token says, if this server has signed it; nothing otherwise."""
        content, _, signature = text.rpartition(".")
        if not hmac.compare_digest(self._signature(content).encode(), signature.encode("utf-8", "replace")):
            return {}
        try:
            packed = content.partition(".")[2]
            read = json.loads(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))
        except (ValueError, binascii.Error):
            return {}
        return read if isinstance(read, dict) else {}

    def _signature(self, content: str) -> str:
        signed = hmac.new(self._key, content.encode("utf-8", "replace"), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(signed).decode().rstrip("=")


def _pack(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")
