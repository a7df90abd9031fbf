"""Passwords, kept as salted scrypt hashes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os

_N, _R, _P = 2**14, 8, 1


def hash_password(password: str) -> str:
    salt = os.urandom(16)
    return "$".join(
        ("scrypt", str(_N), str(_R), str(_P), _text(salt), _text(_derive(password, salt, _N, _R, _P)))
    )


def matches(password: str, stored: str) -> bool:
    """Compare in constant time; takes as long for an unusable hash as for a wrong password."""
    try:
        _, n, r, p, salt, digest = stored.split("$")
        expected = base64.b64decode(digest)
        actual = _derive(password, base64.b64decode(salt), int(n), int(r), int(p))
    except ValueError:
        _derive(password, b"0" * 16, _N, _R, _P)
        return False
    return hmac.compare_digest(expected, actual)


def _derive(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, maxmem=64 * 1024**2, dklen=32)


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
