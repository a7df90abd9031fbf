"""Slowing down whoever guesses passwords."""

from __future__ import annotations

from collections import OrderedDict

from footplate.domain.errors import Throttled

FREE_TRIES = 5
FIRST_WAIT_S = 2.0
LONGEST_WAIT_S = 300.0
MOST_REMEMBERED = 10_000


class LoginThrottle:
    """Counts failures by key (a user name, an address); after a few each one doubles the wait."""

    def __init__(self) -> None:
        self._failures: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def check(self, key: str, now: float) -> None:
        """Raise `Throttled` while a key must wait."""
        count, last_at = self._failures.get(key, (0, 0.0))
        if count < FREE_TRIES:
            return
        wait_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(count - FREE_TRIES, 20))
        left_s = last_at + wait_s - now
        if left_s > 0:
            raise Throttled(f"too many failed logins; try again in {left_s:.0f} s", left_s)

    def fail(self, key: str, now: float) -> None:
        count, last_at = self._failures.pop(key, (0, 0.0))
        if now - last_at > 2 * LONGEST_WAIT_S:
            count = 0
        self._failures[key] = (count + 1, now)
        while len(self._failures) > MOST_REMEMBERED:
            self._failures.popitem(last=False)

    def succeed(self, key: str) -> None:
        self._failures.pop(key, None)
