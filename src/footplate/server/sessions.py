"""Sessions of browsers: a cookie that no page can read, and a key that no other server of the host gets.

A cookie alone would go to every port of the host, also to those that jobs listen on; a token that pages keep
could be read by whatever runs in them. So a call needs both: the cookie, and the key in a header. That header
is also what no foreign page can send.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from fastapi.requests import HTTPConnection
from fastapi.responses import Response

KEY_HEADER = "X-Footplate-Key"
TICKET = "ticket"
SESSION_S = 14 * 86400
TICKET_S = 60


@dataclass(frozen=True, slots=True)
class Sessions:
    """How a browser shows who it is; `cookie` differs between servers of one host."""

    secret: bytes
    cookie: str
    is_secure: bool

    def cookie_of(self, connection: HTTPConnection) -> str | None:
        """What the browser's cookie holds, whoever made it send that."""
        return connection.cookies.get(self.cookie)

    def token_of(self, connection: HTTPConnection, now: float) -> str | None:
        """The token of a browser's session; None when there is none, or when its key or ticket is wrong."""
        token = self.cookie_of(connection)
        if not token:
            return None
        key = connection.headers.get(KEY_HEADER, "")
        if hmac.compare_digest(key.encode(), self.key_of(token).encode()):
            return token
        return token if self._has_ticket(connection, token, now) else None

    def key_of(self, token: str) -> str:
        """The key that belongs to a token."""
        return self._sign("key", token)

    def ticket_for(self, token: str, path: str, now: float) -> str:
        """What lets a browser fetch one path without the key, for a short while: to download it."""
        until = str(int(now + TICKET_S))
        return f"{until}.{self._sign('ticket', until, path, token)}"

    def _has_ticket(self, connection: HTTPConnection, token: str, now: float) -> bool:
        until, _, signature = connection.query_params.get(TICKET, "").partition(".")
        # A WebSocket has no method: a page cannot give it a header, so that it needs a ticket too.
        is_read = connection.scope.get("method", "GET") == "GET"
        if not is_read or not (until.isascii() and until.isdecimal()) or int(until) < now:
            return False
        expected = self._sign("ticket", until, connection.url.path, token)
        return hmac.compare_digest(signature.encode(), expected.encode())

    def _sign(self, *words: str) -> str:
        text = "\n".join(("session", *words))
        return hmac.new(self.secret, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def keep(self, response: Response, token: str) -> None:
        response.set_cookie(
            self.cookie,
            token,
            max_age=SESSION_S,
            path="/api/",
            secure=self.is_secure,
            httponly=True,
            samesite="strict",
        )

    def forget(self, response: Response) -> None:
        response.delete_cookie(
            self.cookie, path="/api/", secure=self.is_secure, httponly=True, samesite="strict"
        )
