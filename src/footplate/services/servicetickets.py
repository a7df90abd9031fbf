"""Who comes with a browser: a ticket, good once, for a cookie that opens one service."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets

from footplate.domain.clock import Clock
from footplate.services.access import Caller

TICKET_S = 60.0
COOKIE_S = 12 * 3600


class ServiceTickets:
    """Tickets are in memory; cookies are signed, and say for whom, for what and until when."""

    def __init__(self, clock: Clock, secret: bytes) -> None:
        self._clock = clock
        self._secret = secret
        self._tickets: dict[str, tuple[str, Caller, float]] = {}

    def issue(self, caller: Caller, prefix: str) -> str:
        """Make what lets a browser into the service at a prefix once, within a minute."""
        now, ticket = self._clock.now(), secrets.token_urlsafe(24)
        self._tickets = {one: kept for one, kept in self._tickets.items() if kept[2] > now}
        self._tickets[ticket] = (prefix, caller, now + TICKET_S)
        return ticket

    def redeem(self, prefix: str, ticket: str) -> str | None:
        """Take a ticket for the value of a cookie that opens this service alone; None: it is worthless."""
        prefix_of_it, caller, until = self._tickets.pop(ticket, ("", None, 0.0))
        now = self._clock.now()
        if prefix_of_it != prefix or caller is None or now >= until:
            return None
        # Not a token, but which: the cookie is worth nothing once that is revoked.
        who = json.dumps([caller.name, caller.token_id, caller.job_id]).encode().hex()
        return self._signed(prefix, who, str(int(now) + COOKIE_S))

    def caller_of(self, prefix: str, cookie: str) -> Caller | None:
        """Say for whom a cookie of the service at a prefix was made; None for one that is none."""
        who, _, rest = cookie.partition(".")
        until = rest.partition(".")[0]
        expected = self._signed(prefix, who, until)
        if not hmac.compare_digest(cookie.encode(), expected.encode()) or int(until) < self._clock.now():
            return None
        name, token_id, job_id = json.loads(bytes.fromhex(who))
        return Caller(name, token_id=token_id, job_id=job_id)

    def _signed(self, prefix: str, who: str, until: str) -> str:
        text = f"service\n{prefix}\n{who}\n{until}".encode()
        signature = hmac.new(self._secret, text, hashlib.sha256).hexdigest()
        return f"{who}.{until}.{signature}"
