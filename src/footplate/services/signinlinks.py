"""Links that sign a browser in: made by somebody who is known already, good once and for minutes."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass

import sqlalchemy as sa

from footplate.domain.errors import NotFound
from footplate.domain.messages import say
from footplate.services import audit
from footplate.services.access import Caller, require_person
from footplate.services.accounts import Accounts, digest_of
from footplate.services.platform import Platform
from footplate.store import account_queries as accounts
from footplate.store.account_queries import Token

CODE_PREFIX = "fpl_"
# Each lives for minutes. Whoever makes more than this loses the oldest, and disturbs nobody else.
MOST_OF_ONE_PERSON = 20
_WORTHLESS = say("sign_in_link_worthless")


@dataclass(frozen=True, slots=True)
class _Link:
    token_id: str | None
    expires_at: float


class SignInLinks:
    """Kept in memory, by the digests of their codes: a server that starts again has forgotten them."""

    def __init__(self, platform: Platform, accounts: Accounts) -> None:
        self._platform = platform
        self._accounts = accounts
        self._links: dict[str, OrderedDict[str, _Link]] = {}

    async def make(self, caller: Caller, expires_in_s: int) -> tuple[str, float]:
        """Make a link for the caller; return its code, which is told this once, and when it expires."""
        require_person(caller, "make_sign_in_links")
        now, code = self._platform.clock.now(), CODE_PREFIX + secrets.token_urlsafe(32)
        await audit.note(self._platform, caller, "link.made", caller.name)
        self._forget_expired(now)
        own = self._links.setdefault(caller.name, OrderedDict())
        own[digest_of(code)] = _Link(caller.token_id, now + expires_in_s)
        while len(own) > MOST_OF_ONE_PERSON:
            own.popitem(last=False)
        return code, now + expires_in_s

    async def follow(self, code: str, label: str, session_s: int) -> tuple[str, Token]:
        """Use a link up, and hand out the token of a session; raise `NotFound` when it is worth nothing."""
        user, link = self._take(digest_of(code))
        caller = Caller(user)

        def unit(connection: sa.Connection) -> None:
            owner = accounts.user(connection, user)
            if owner is None or not owner.is_enabled or not _is_known(connection, user, link.token_id):
                raise NotFound(_WORTHLESS)

        await audit.change(self._platform, caller, "link.followed", user, unit)
        return await self._accounts.issue(caller, label, session_s)

    def _take(self, digest: str) -> tuple[str, _Link]:
        """Take a link out before anything is awaited: of two who follow it, the first has it."""
        self._forget_expired(self._platform.clock.now())
        for user, own in self._links.items():
            if link := own.pop(digest, None):
                return user, link
        raise NotFound(_WORTHLESS)

    def _forget_expired(self, now: float) -> None:
        for user, own in list(self._links.items()):
            for digest, link in list(own.items()):
                if now >= link.expires_at:
                    del own[digest]
            if not own:
                del self._links[user]


def _is_known(connection: sa.Connection, user: str, token_id: str | None) -> bool:
    """Tell whether the token that a link was made with still is; the link ends with it."""
    return token_id is None or any(token.id == token_id for token in accounts.tokens_of(connection, user))
