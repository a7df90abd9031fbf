"""Throttles failed logins.

Failures count for three things: a name at an address, a name wherever it is tried from, and an address
whatever names are tried there. The first bounds who guesses one password. The second bounds those who do it
from many addresses; who has signed in from an address before is not held up there by what others do. The
third bounds those who try many names: the first tries of each name stay free, since everybody behind one
proxy calls from the same address.

Only failures count. Tries of one name are made one after the other, so that many at the same time are as slow
as any, and right ones only wait for each other.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from footplate.domain.errors import Throttled

FREE_TRIES = 5
FREE_TRIES_OF_NAME = 50
FREE_TRIES_OF_ADDRESS = 50
# What a name still has at an address where too many others were tried.
FREE_TRIES_AT_BUSY_ADDRESS = 2
FIRST_WAIT_S = 2.0
LONGEST_WAIT_S = 300.0
MOST_REMEMBERED = 10_000
MOST_AT_ONCE = 100


class Failures:
    """Counts failures by key; after the free ones each doubles the wait."""

    def __init__(self) -> None:
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def count(self, key: str, now: float) -> int:
        count, last_at = self._failed.get(key, (0, 0.0))
        return 0 if now - last_at > 2 * LONGEST_WAIT_S else count

    def check(self, key: str, now: float, n_free: int) -> None:
        """Raise `Throttled` while a key must wait."""
        count = self.count(key, now)
        if count < n_free:
            return
        wait_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(count - n_free, 20))
        left_s = self._failed[key][1] + wait_s - now
        if left_s > 0:
            raise Throttled("too_many_failed_logins", left_s, seconds=round(left_s))

    def add(self, key: str, now: float) -> None:
        """Count a failure."""
        count = self.count(key, now)
        self._failed.pop(key, None)
        self._failed[key] = (count + 1, now)
        while len(self._failed) > MOST_REMEMBERED:
            self._failed.popitem(last=False)

    def forget(self, key: str) -> None:
        self._failed.pop(key, None)


class LoginThrottle:
    """Remembers who has failed and who has succeeded, and from where."""

    def __init__(self) -> None:
        self._pairs, self._names, self._addresses = Failures(), Failures(), Failures()
        self._known: OrderedDict[str, None] = OrderedDict()
        self._lines: dict[str, tuple[asyncio.Lock, int]] = {}

    def is_busy(self, address: str, now: float) -> bool:
        """Tell whether an address has too many failures."""
        return self._addresses.count(address, now) >= FREE_TRIES_OF_ADDRESS

    def check(self, name: str, address: str, now: float) -> None:
        """Raise `Throttled` while this name must wait at this address."""
        pair = _pair(name, address)
        n_free = FREE_TRIES_AT_BUSY_ADDRESS if self.is_busy(address, now) else FREE_TRIES
        self._pairs.check(pair, now, n_free)
        if pair not in self._known:
            self._names.check(name, now, FREE_TRIES_OF_NAME)

    def fail(self, name: str, address: str, now: float) -> None:
        """Take note of a wrong password."""
        self._pairs.add(_pair(name, address), now)
        self._names.add(name, now)
        self._addresses.add(address, now)

    def succeed(self, name: str, address: str) -> None:
        """Take note of a right one: what this name failed at this address is forgotten."""
        pair = _pair(name, address)
        self._pairs.forget(pair)
        self._known[pair] = None
        self._known.move_to_end(pair)
        while len(self._known) > MOST_REMEMBERED:
            self._known.popitem(last=False)

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """Try a name when those who tried it before are done."""
        lock, n_waiting = self._lines.get(name, (asyncio.Lock(), 0))
        if n_waiting >= MOST_AT_ONCE:
            raise Throttled("too_many_logins")
        self._lines[name] = (lock, n_waiting + 1)
        try:
            async with lock:
                yield
        finally:
            lock, n_waiting = self._lines[name]
            if n_waiting == 1:
                del self._lines[name]
            else:
                self._lines[name] = (lock, n_waiting - 1)


def _pair(name: str, address: str) -> str:
    return f"{address}\n{name}"
