"""Accounts: sign in, tokens, users."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from footplate.domain.errors import Conflict, InvalidInput, NotFound, Unauthenticated
from footplate.domain.ids import job_id as time_sorted_id
from footplate.domain.job import Job
from footplate.domain.messages import say
from footplate.services import audit
from footplate.services.access import Caller, require_admin, require_person
from footplate.services.passwords import HashingThreads, hash_password
from footplate.services.platform import Platform
from footplate.services.throttle import LoginThrottle
from footplate.services.tokens import Tokens, claim_of, is_of_job
from footplate.store import account_queries as accounts
from footplate.store import group_queries
from footplate.store.account_queries import Token, User
from footplate.store.group_queries import Profile
from footplate.store.writer import Transaction

TOKEN_PREFIX = "fp_"  # noqa: S105  # how tokens begin, not one of them
REMEMBER_S = 5.0
MOST_REMEMBERED = 10_000
TOUCH_EVERY_S = 60.0
_NOBODY = say("no_valid_token")
NO_PROFILE = Profile()


WriteToken = Callable[[Token], str]


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody: what they may, in which queues, and who they are."""

    user: User
    roles: dict[str, str]
    profile: Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What of an account is to change; nothing of what is None."""

    password: str | None = None
    is_admin: bool | None = None
    is_enabled: bool | None = None
    full_name: str | None = None
    email: str | None = None

    @property
    def is_of_profile(self) -> bool:
        return self.password is None and self.is_admin is None and self.is_enabled is None


@dataclass(slots=True)
class _Remembered:
    caller: Caller
    until: float


class Accounts:
    """Knows callers by their tokens; remembers each for a few seconds, so that most calls read no table."""

    def __init__(
        self, platform: Platform, tokens: Tokens, on_removed: Callable[[str], None] = lambda _name: None
    ) -> None:
        self._platform = platform
        self._tokens = tokens
        self._on_removed = on_removed
        self._hashing = HashingThreads()
        self._throttle = LoginThrottle()
        self._remembered: dict[str, _Remembered] = {}

    async def identify(self, token: str) -> Caller:
        """Say who is calling; raise `Unauthenticated` when the token is unknown, expired or revoked."""
        now = self._platform.clock.now()
        known = self._remembered.get(token)
        if known is not None and now < known.until and self._still_lives(token):
            return known.caller
        memory = self._remembered
        if is_of_job(token):
            found = _Remembered(await self._identify_job(token), now + REMEMBER_S)
        else:
            found = await self._lookup(token, now)
        if len(memory) >= MOST_REMEMBERED:
            memory.clear()
        # Into the memory of when the lookup began: what was forgotten meanwhile stays forgotten.
        memory[token] = found
        return found.caller

    def _still_lives(self, token: str) -> bool:
        """Tell whether a token is not one of an attempt that is over."""
        if not is_of_job(token):
            return True
        job_id, attempt = claim_of(token)
        job = self._platform.store.board.get(job_id)
        return job is not None and str(job.attempt) == attempt

    async def caller_named(self, name: str) -> Caller:
        """Somebody whose identity was shown by other means than a token."""

        def query(connection: sa.Connection) -> tuple[User | None, dict[str, str]]:
            return accounts.user(connection, name), accounts.roles_of(connection, name)

        user, roles = await self._platform.store.read(query)
        if user is None or not user.is_enabled:
            raise Unauthenticated("account_gone", user=name)
        return Caller(user.name, user.is_admin, roles)

    async def renew(self, caller: Caller) -> Caller:
        """The caller by the rights of now; raise `Unauthenticated` when their token is revoked or over."""
        now, name = self._platform.clock.now(), caller.name

        def query(connection: sa.Connection) -> list[Token]:
            return [one for one in accounts.tokens_of(connection, name) if one.id == caller.token_id]

        fresh = await self.caller_named(name)
        if caller.job_id is not None:
            if (job := self._platform.store.board.get(caller.job_id)) is None:
                raise Unauthenticated("job_token_over", job=caller.job_id, attempt="")
            return _of_job(job, fresh)
        if caller.token_id is not None:
            found = await self._platform.store.read(query)
            if not any(one.expires_at is None or now < one.expires_at for one in found):
                raise Unauthenticated(_NOBODY)
        return replace(fresh, token_id=caller.token_id)

    def forget(self) -> None:
        """Look everybody up again: rights or tokens have changed."""
        self._remembered = {}

    async def _lookup(self, token: str, now: float) -> _Remembered:
        def query(connection: sa.Connection) -> tuple[Token, User, dict[str, str]] | None:
            found = accounts.token_by_digest(connection, digest_of(token))
            owner = accounts.user(connection, found.user) if found else None
            return (found, owner, accounts.roles_of(connection, owner.name)) if found and owner else None

        answer = await self._platform.store.read(query)
        if answer is None:
            raise Unauthenticated(_NOBODY)
        found, owner, roles = answer
        if found.expires_at is not None and now >= found.expires_at:
            raise Unauthenticated("token_expired", token=found.name)
        if not owner.is_enabled:
            raise Unauthenticated("account_disabled", user=owner.name)
        if now - (found.last_used_at or 0) > TOUCH_EVERY_S:
            await self._platform.store.write(lambda tx: accounts.touch_token(tx.connection, found, now))
        until = now + REMEMBER_S
        until = until if found.expires_at is None else min(until, found.expires_at)
        return _Remembered(Caller(owner.name, owner.is_admin, roles, token_id=found.id), until)

    # Jobs that call us

    async def _identify_job(self, token: str) -> Caller:
        job_id, attempt = claim_of(token)
        if not self._tokens.is_genuine(token):
            raise Unauthenticated(_NOBODY)
        job = self._platform.store.board.get(job_id)
        if job is None or not self._still_lives(token):
            raise Unauthenticated("job_token_over", job=job_id, attempt=attempt)

        return _of_job(job, await self.caller_named(job.owner))

    # Signing in

    async def login(
        self,
        name: str,
        password: str,
        address: str,
        label: str,
        expires_in_s: int | None,
        replaces: bool = False,
    ) -> tuple[str, Token]:
        """Check a password and hand out a token; wrong guesses are slowed down by name and by address.

        When it `replaces`, earlier tokens of the same user and label become worthless.
        """
        await self.verify(name, password, address)
        return await self._issue(name, label, expires_in_s, replaces)

    async def _check_password(self, name: str, password: str, address: str) -> User | None:
        """The account of this name and password, if there is one; failures are throttled."""
        clock, throttle = self._platform.clock, self._throttle
        async with throttle.turn(name):
            throttle.check(name, address, clock.now())
            with self._hashing.turn(gives_way=throttle.is_busy(address, clock.now())):
                user = await self._platform.store.read(lambda connection: accounts.user(connection, name))
                is_right = await self._hashing.matches(password, user.password_hash if user else "")
            if user is None or not is_right:
                throttle.fail(name, address, clock.now())
                return None
            throttle.succeed(name, address)
            return user

    async def issue(
        self, caller: Caller, label: str, expires_in_s: int | None, replaces: bool = False
    ) -> tuple[str, Token]:
        require_person(caller, "make_tokens")
        return await self._issue(caller.name, label, expires_in_s, replaces)

    async def _issue(
        self, name: str, label: str, expires_in_s: int | None, replaces: bool
    ) -> tuple[str, Token]:
        now = self._platform.clock.now()
        text = TOKEN_PREFIX + secrets.token_urlsafe(32)
        token = Token(
            id=time_sorted_id(now, secrets.randbelow(2**20)),
            user=name,
            name=label,
            digest=digest_of(text),
            created_at=now,
            expires_at=None if expires_in_s is None else now + expires_in_s,
            last_used_at=None,
        )

        def unit(tx: Transaction) -> int:
            n_replaced = accounts.remove_tokens_named(tx.connection, name, label) if replaces else 0
            accounts.add_token(tx.connection, token)
            return n_replaced

        if await self._platform.store.write(unit):
            self.forget()
        return text, token

    async def verify(self, name: str, password: str, address: str) -> User:
        """Check a password; raise `Unauthenticated` when it is wrong or the account disabled."""
        user = await self._check_password(name, password, address)
        if user is None:
            raise Unauthenticated("wrong_password", user=name)
        if not user.is_enabled:
            raise Unauthenticated("account_disabled", user=name)
        return user

    async def add_token(self, name: str, label: str, expires_in_s: int | None, write: WriteToken) -> str:
        """Issue a token whose text is written from what is stored of it."""
        now = self._platform.clock.now()
        token_id = time_sorted_id(now, secrets.randbelow(2**20))
        expires_at = None if expires_in_s is None else now + expires_in_s
        text = write(Token(token_id, name, label, "", now, expires_at, None))
        token = Token(token_id, name, label, digest_of(text), now, expires_at, None)
        await self._platform.store.write(lambda tx: accounts.add_token(tx.connection, token))
        return text

    async def hashed(self, password: str) -> str:
        """The hash of a password, computed in turn with all logins."""
        with self._hashing.turn():
            return await self._hashing.hash(password)

    async def tokens(self, caller: Caller) -> list[Token]:
        require_person(caller, "look_at_tokens")
        return await self._platform.store.read(lambda connection: accounts.tokens_of(connection, caller.name))

    async def revoke(self, caller: Caller, token_id: str) -> None:
        require_person(caller, "revoke_tokens")
        gone = await self._platform.store.write(
            lambda tx: accounts.remove_token(tx.connection, caller.name, token_id)
        )
        if not gone:
            raise NotFound("token_unknown", token=token_id)
        self.forget()

    async def revoke_others(self, caller: Caller) -> int:
        """Revoke all tokens of the caller but the one that this call was made with; return how many."""
        require_person(caller, "revoke_tokens")
        kept = caller.token_id or ""
        n_gone = await self._platform.store.write(
            lambda tx: accounts.remove_tokens_but(tx.connection, caller.name, kept)
        )
        self.forget()
        return n_gone

    async def sign_out(self, token: str) -> None:
        """Revoke a token by itself."""
        digest = digest_of(token)
        await self._platform.store.write(lambda tx: accounts.remove_token_by_digest(tx.connection, digest))
        self.forget()

    async def change_password(self, caller: Caller, old: str, new: str) -> None:
        """Set one's own password; every token of the account is revoked."""
        require_person(caller, "change_passwords")
        if await self._check_password(caller.name, old, "") is None:
            raise InvalidInput("not_current_password", "old_password")
        with self._hashing.turn():
            hashed = await self._hashing.hash(new)

        def unit(connection: sa.Connection) -> None:
            accounts.change_user(connection, caller.name, {"password_hash": hashed})
            accounts.remove_tokens_of(connection, caller.name)

        await audit.change(self._platform, caller, "password.changed", caller.name, unit)
        self.forget()

    # Users

    async def users(self, caller: Caller) -> list[Account]:
        require_admin(caller, "list_users")
        return await self._platform.store.read(
            lambda connection: [_account(connection, user) for user in accounts.all_users(connection)]
        )

    async def user(self, caller: Caller, name: str) -> Account:
        if caller.name != name:
            require_admin(caller, "look_at_other_users")

        def query(connection: sa.Connection) -> Account | None:
            found = accounts.user(connection, name)
            return None if found is None else _account(connection, found)

        account = await self._platform.store.read(query)
        if account is None:
            raise NotFound("user_unknown", user=name)
        return account

    async def add(
        self,
        caller: Caller,
        name: str,
        password: str,
        is_admin: bool,
        roles: Mapping[str, str],
        profile: Profile = NO_PROFILE,
    ) -> Account:
        require_admin(caller, "add_users")
        unknown = sorted(set(roles) - set(self._platform.cluster.queues))
        if unknown:
            raise InvalidInput("queue_unknown", f"queues.{unknown[0]}", queue=unknown[0])
        user = User(name, await self._hashing.hash(password), is_admin, True, self._platform.clock.now())

        def unit(connection: sa.Connection) -> None:
            if accounts.user(connection, name) is not None:
                raise Conflict("user_exists", user=name)
            accounts.add_user(connection, user)
            if profile != NO_PROFILE:
                group_queries.put_profile(connection, name, profile)
            for queue, role in roles.items():
                accounts.put_member(connection, queue, name, role)

        await audit.change(self._platform, caller, "user.added", name, unit, is_admin=is_admin)
        return await self.user(caller, name)

    async def change(self, caller: Caller, name: str, wanted: Change) -> Account:
        """Change an account; who somebody is, they say themselves too."""
        if caller.name == name and wanted.is_of_profile:
            require_person(caller, "change_users")
        else:
            require_admin(caller, "change_users")
        await self.user(caller, name)
        columns = {"is_admin": wanted.is_admin, "is_enabled": wanted.is_enabled}
        changes: dict[str, Any] = {column: value for column, value in columns.items() if value is not None}
        told: audit.Changes = {}
        if wanted.password is not None:
            told["password"] = None
            changes["password_hash"] = await self._hashing.hash(wanted.password)

        def unit(connection: sa.Connection) -> None:
            before = accounts.user(connection, name)
            for column in columns.keys() & changes.keys():
                told[column] = (getattr(before, column), changes[column])
            if changes:
                accounts.change_user(connection, name, changes)
            if wanted.password is not None:
                accounts.remove_tokens_of(connection, name)
            told.update(_put_profile(connection, name, wanted))
            _require_an_admin(connection)

        await audit.change(self._platform, caller, "user.changed", name, unit, changes=told)
        self.forget()
        return await self.user(caller, name)

    async def remove(self, caller: Caller, name: str) -> None:
        """Remove an account; its jobs stay, and running ones go on."""
        require_admin(caller, "remove_users")
        await self.user(caller, name)

        def unit(connection: sa.Connection) -> None:
            accounts.remove_user(connection, name)
            _require_an_admin(connection)

        await audit.change(self._platform, caller, "user.removed", name, unit)
        # A later account of the same name is in none of the groups.
        await self._platform.store.write(lambda tx: self._platform.storages.load(tx.connection))
        self._on_removed(name)
        self.forget()

    async def ensure_admin(self, password: str | None) -> str | None:
        """Make the first account `admin`; return its password when one had to be made up."""
        if await self._platform.store.read(accounts.all_users):
            return None
        chosen = password or secrets.token_urlsafe(12)
        user = User("admin", hash_password(chosen), True, True, self._platform.clock.now())
        await self._platform.store.write(lambda tx: accounts.add_user(tx.connection, user))
        return None if password else chosen


def _account(connection: sa.Connection, user: User) -> Account:
    profile = group_queries.profile(connection, user.name)
    return Account(user, accounts.roles_of(connection, user.name), profile)


def _put_profile(connection: sa.Connection, name: str, wanted: Change) -> audit.Changes:
    """Keep who somebody is, as far as it is to change; say what was and became."""
    before = group_queries.profile(connection, name)
    given = {"full_name": wanted.full_name, "email": wanted.email}
    new: dict[str, Any] = {field: value for field, value in given.items() if value is not None}
    if new:
        group_queries.put_profile(connection, name, replace(before, **new))
    return {field: (getattr(before, field), value) for field, value in new.items()}


def _require_an_admin(connection: sa.Connection) -> None:
    if accounts.n_admins(connection) == 0:
        raise Conflict("last_admin")


def digest_of(token: str) -> str:
    # Tokens are 256 random bits: a plain digest cannot be guessed back.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _of_job(job: Job, owner: Caller) -> Caller:
    """A job acts for its owner in queues, but never as a platform admin, who needs no role to submit."""
    granted = {job.spec.queue: "member"} if owner.is_admin else {}
    return Caller(owner.name, False, {**granted, **owner.roles}, job.id)
