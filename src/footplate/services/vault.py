"""Encrypts secrets with the server's key, so that the database alone does not reveal them."""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import TYPE_CHECKING

from footplate.domain.errors import SecretUnreadable

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# The first byte says how the rest is sealed: AES-256-GCM, a nonce of 12 bytes, then the sealed text.
_FORM = b"\x01"
_NONCE_BYTES = 12
_PURPOSE = b"footplate: sealing of secrets"


class Vault:
    """Seals texts under a label: what was sealed under one label opens under no other."""

    def __init__(self, server_secret: bytes) -> None:
        # A key of its own: what is signed with the server's secret says nothing about what is sealed.
        self._key = hmac.new(server_secret, _PURPOSE, hashlib.sha256).digest()

    def seal(self, text: str, label: str) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        return _FORM + nonce + self._cipher().encrypt(nonce, text.encode(), _FORM + label.encode())

    def unseal(self, sealed: bytes, label: str) -> str:
        """Open what was sealed under this label; raise `SecretUnreadable` when it cannot be trusted."""
        # Imported here: a start pays nothing for it.
        from cryptography.exceptions import InvalidTag

        nonce, rest = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        try:
            return self._cipher().decrypt(nonce, rest, sealed[:1] + label.encode()).decode()
        except (InvalidTag, ValueError):
            raise SecretUnreadable("sealed_with_other_key") from None

    def _cipher(self) -> AESGCM:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._key)
