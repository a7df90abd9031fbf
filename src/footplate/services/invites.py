"""Invitations: an admin creates a link, and the new user chooses the password."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from footplate.domain.errors import Conflict, InvalidInput, NotFound
from footplate.domain.messages import say
from footplate.services import audit
from footplate.services.access import Caller, require_admin
from footplate.services.accounts import Accounts, digest_of
from footplate.services.platform import Platform
from footplate.store import account_queries as accounts
from footplate.store import invite_queries as queries
from footplate.store.account_queries import Token, User
from footplate.store.invite_queries import Invite

CODE_PREFIX = "fpi_"
_WORTHLESS = say("invitation_worthless")


@dataclass(frozen=True, slots=True)
class Invites:
    """Each is good once and for a while; of its code only the digest is stored."""

    platform: Platform
    accounts: Accounts

    async def make(
        self, caller: Caller, user: str, is_admin: bool, queues: Mapping[str, str], expires_in_s: int
    ) -> tuple[str, Invite]:
        """Invite somebody; say the code, this once. An earlier invitation of the same name is void."""
        require_admin(caller, "invite_people")
        unknown = sorted(set(queues) - set(self.platform.cluster.queues))
        if unknown:
            raise InvalidInput("queue_unknown", f"queues.{unknown[0]}", queue=unknown[0])
        now, code = self.platform.clock.now(), CODE_PREFIX + secrets.token_urlsafe(32)
        invite = Invite(user, digest_of(code), is_admin, queues, caller.name, now, now + expires_in_s)

        def unit(connection: sa.Connection) -> None:
            _refuse_taken(connection, user)
            queries.put(connection, invite)

        await audit.change(self.platform, caller, "invite.made", user, unit, is_admin=is_admin)
        return code, invite

    async def every(self, caller: Caller) -> list[Invite]:
        """The invitations that can still be followed."""
        require_admin(caller, "list_invitations")
        now = self.platform.clock.now()
        return [one for one in await self.platform.store.read(queries.every) if now < one.expires_at]

    async def revoke(self, caller: Caller, user: str) -> None:
        require_admin(caller, "revoke_invitations")
        gone = await audit.change(
            self.platform, caller, "invite.revoked", user, lambda connection: queries.remove(connection, user)
        )
        if not gone:
            raise NotFound("nobody_invited", user=user)

    async def lookup(self, code: str) -> Invite:
        """What an invitation is for; raise `NotFound` when it is worth nothing."""
        return await self.platform.store.read(lambda connection: self._good(connection, code))

    async def accept(
        self, code: str, password: str, label: str, expires_in_s: int | None
    ) -> tuple[str, Token]:
        """Make the account with the password of its owner, use the invitation up, and hand out a token."""
        user = (await self.lookup(code)).user
        hashed = await self.accounts.hashed(password)
        caller = Caller(user)

        def unit(connection: sa.Connection) -> None:
            # Once more: who came first, while this one chose a password, has the account.
            invite = self._good(connection, code)
            _refuse_taken(connection, invite.user)
            queries.remove(connection, invite.user)
            now = self.platform.clock.now()
            accounts.add_user(connection, User(invite.user, hashed, invite.is_admin, True, now))
            for queue, role in invite.queues.items():
                if queue in self.platform.cluster.queues:
                    accounts.put_member(connection, queue, invite.user, role)

        await audit.change(self.platform, caller, "invite.accepted", user, unit)
        return await self.accounts.issue(caller, label, expires_in_s)

    def _good(self, connection: sa.Connection, code: str) -> Invite:
        found = queries.by_digest(connection, digest_of(code))
        if found is None or self.platform.clock.now() >= found.expires_at:
            raise NotFound(_WORTHLESS)
        inviter = accounts.user(connection, found.invited_by)
        if inviter is None or not inviter.is_admin or not inviter.is_enabled:
            raise NotFound(_WORTHLESS)
        return found


def _refuse_taken(connection: sa.Connection, user: str) -> None:
    if accounts.user(connection, user) is not None:
        raise Conflict("user_exists_invite", user=user)
