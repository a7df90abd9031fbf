"""The open connections: their number per address, and which of them exceed their time limits."""

from __future__ import annotations

import asyncio
import logging
import resource
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from footplate.domain.errors import TooManyConnections
from footplate.server.addresses import neighbourhood
from footplate.server.bounds import Bounds

log = logging.getLogger(__name__)

LONGEST_TICK_S = 1.0
TELL_EVERY_S = 60.0


class Guest(Protocol):
    """A connection as the door sees it."""

    def check(self, now: float) -> None:
        """Leave when the time is up."""

    def waits_since(self) -> float | None:
        """Since when it has asked for nothing; None while it is being served."""

    def give_way(self) -> None:
        """Close immediately, to make room for another connection."""


class Door:
    """Accepts connections up to the limits, and checks each of them periodically.

    When there are too many, the one that has asked for nothing for the longest has to give way: so
    connections that are only held open keep nobody out.
    """

    def __init__(self, bounds: Bounds, is_proxy: Callable[[str], bool]) -> None:
        self.bounds = bounds
        self._is_proxy = is_proxy
        self._guests: dict[str, set[Guest]] = {}
        self._n_guests = 0
        self._tick: asyncio.TimerHandle | None = None
        self._told_at = float("-inf")
        self._untold: Counter[str] = Counter()
        self._most = min(bounds.n_connections, _open_files() // 2)

    def enter(self, guest: Guest, address: str, loop: asyncio.AbstractEventLoop) -> None:
        """Let a connection in; raise `TooManyConnections` when there is no place for it."""
        place = neighbourhood(address)
        near = self._guests.get(place, set())
        if len(near) >= self.bounds.n_per_address and not self._is_proxy(address):
            self._make_room(near, address, loop)
        if self._n_guests >= self._most:
            self._make_room({guest for near in self._guests.values() for guest in near}, None, loop)
        self._guests.setdefault(place, set()).add(guest)
        self._n_guests += 1
        if self._tick is None:
            self._check_later(loop)

    def leave(self, guest: Guest, address: str) -> None:
        """Take note that a connection is gone."""
        place = neighbourhood(address)
        near = self._guests.get(place, set())
        if guest in near:
            near.remove(guest)
            self._n_guests -= 1
        if not near:
            self._guests.pop(place, None)

    def _make_room(self, among: set[Guest], address: str | None, loop: asyncio.AbstractEventLoop) -> None:
        waiting = [(since, guest) for guest in among if (since := guest.waits_since()) is not None]
        self.tell("too many connections", loop.time())
        if not waiting:
            raise TooManyConnections("too_many_connections", n=len(among), address=address)
        min(waiting, key=lambda one: one[0])[1].give_way()

    def tell(self, what: str, now: float) -> None:
        """Log what was refused, once a minute at most, so that a flood of requests does not flood the log."""
        self._untold[what] += 1
        if now - self._told_at >= TELL_EVERY_S:
            told = ", ".join(f"{kind} ({n} times)" for kind, n in self._untold.items())
            log.warning("connections were cut: %s", told)
            self._told_at = now
            self._untold.clear()

    def _check_later(self, loop: asyncio.AbstractEventLoop) -> None:
        bounds = self.bounds
        shortest_s = min(bounds.header_time_s, bounds.idle_s, bounds.stall_s)
        self._tick = loop.call_later(min(LONGEST_TICK_S, shortest_s / 4), self._check, loop)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for near in list(self._guests.values()):
            for guest in list(near):
                guest.check(now)
        self._tick = None
        if self._n_guests:
            self._check_later(loop)


def _open_files() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else 1 << 20
