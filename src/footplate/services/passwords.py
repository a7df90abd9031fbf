"""Passwords, kept as salted scrypt hashes and hashed in threads of their own."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from footplate.domain.errors import Throttled

N_THREADS = 2
MOST_WAITING = 100
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


class HashingThreads:
    """A few threads that only hash: however many people sign in, nothing else waits for them."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(N_THREADS, thread_name_prefix="passwords")
        self._n_turns = 0

    @contextmanager
    def turn(self, gives_way: bool = False) -> Iterator[None]:
        """Wait for a hashing thread; raise `Throttled` if too many wait already.

        Who `gives_way` to others does not stand in line at all.
        """
        if self._n_turns >= N_THREADS + (0 if gives_way else MOST_WAITING):
            raise Throttled("too_many_logins")
        self._n_turns += 1
        try:
            yield
        finally:
            self._n_turns -= 1

    async def hash(self, password: str) -> str:
        return await asyncio.get_running_loop().run_in_executor(self._threads, hash_password, password)

    async def matches(self, password: str, stored: str) -> bool:
        return await asyncio.get_running_loop().run_in_executor(self._threads, matches, password, stored)
