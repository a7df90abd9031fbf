"""Slowing down whoever guesses passwords."""

from __future__ import annotations

from collections import OrderedDict

from footplate.domain.errors import Throttled

FREE_TRIES_OF_USER = 5
# Everybody behind one proxy calls from the same address.
FREE_TRIES_OF_ADDRESS = 50
FIRST_WAIT_S = 2.0
LONGEST_WAIT_S = 300.0
MOST_REMEMBERED = 10_000


class LoginThrottle:
    """Counts tries by key (a user name, an address); after the free ones each doubles the wait.

    A try counts from its beginning, so that many at the same time are as slow as one after the other;
    a success makes up for it.
    """

    def __init__(self, n_free: int) -> None:
        self._n_free = n_free
        self._tries: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def check(self, key: str, now: float) -> None:
        """Raise `Throttled` while a key must wait."""
        count, last_at = self._tries.get(key, (0, 0.0))
        if count < self._n_free:
            return
        wait_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(count - self._n_free, 20))
        left_s = last_at + wait_s - now
        if left_s > 0:
            raise Throttled(f"too many failed logins; try again in {left_s:.0f} s", left_s)

    def begin(self, key: str, now: float) -> None:
        """Count a try, or raise `Throttled` while the key must wait."""
        self.check(key, now)
        count, last_at = self._tries.pop(key, (0, 0.0))
        if now - last_at > 2 * LONGEST_WAIT_S:
            count = 0
        self._tries[key] = (count + 1, now)
        while len(self._tries) > MOST_REMEMBERED:
            self._tries.popitem(last=False)

    def forget(self, key: str) -> None:
        """Hold nothing against a key any more: a try has succeeded."""
        self._tries.pop(key, None)
