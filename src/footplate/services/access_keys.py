"""Access keys: an id that is sent, and a secret that is not, by which requests are signed.

Some clients sign each request instead of sending a token. To check a signature the server needs the secret
itself, so that it is sealed and not hashed. How a request is signed is the matter of its dialect.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import sqlalchemy as sa

from footplate.domain.errors import Conflict, NotFound, Unauthenticated
from footplate.services import audit
from footplate.services.access import Caller, require_person
from footplate.services.platform import Platform
from footplate.store import access_key_queries as keys
from footplate.store import account_queries as accounts
from footplate.store.access_key_queries import AccessKey
from footplate.store.account_queries import User

ID_PREFIX = "FPAK"
MOST_OF_A_PERSON = 50
TOUCH_EVERY_S = 60.0
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"

# Tells whether a request was signed with this secret.
IsSignedWith = Callable[[str], bool]


async def create(platform: Platform, caller: Caller, name: str) -> tuple[AccessKey, str]:
    """Make a key for the caller; its secret is told this once."""
    require_person(caller, "make_access_keys")
    key_id = ID_PREFIX + "".join(secrets.choice(_LETTERS) for _ in range(16))
    secret = secrets.token_urlsafe(30)
    sealed = platform.vault.seal(secret, _label(key_id, caller.name))
    new = AccessKey(key_id, caller.name, name, platform.clock.now(), sealed=sealed)

    def unit(connection: sa.Connection) -> None:
        if len(keys.all_of(connection, caller.name)) >= MOST_OF_A_PERSON:
            raise Conflict("too_many_access_keys", most=MOST_OF_A_PERSON)
        keys.add(connection, new)

    await audit.change(platform, caller, "access_key.added", key_id, unit, name=name)
    return new, secret


async def all_of(platform: Platform, caller: Caller) -> list[AccessKey]:
    """The caller's own keys, without their secrets."""
    require_person(caller, "look_at_access_keys")
    return await platform.store.read(lambda connection: keys.all_of(connection, caller.name))


async def remove(platform: Platform, caller: Caller, key_id: str) -> None:
    """Delete a key of the caller; what is signed with it is refused from now on."""
    require_person(caller, "remove_access_keys")
    gone = await audit.change(
        platform,
        caller,
        "access_key.removed",
        key_id[:64],
        lambda connection: keys.remove(connection, caller.name, key_id),
    )
    if not gone:
        raise NotFound("access_key_unknown", key=key_id[:64])


async def identify(platform: Platform, key_id: str, is_signed_with: IsSignedWith) -> Caller:
    """Say who signed a request; raise `Unauthenticated` unless the key's own secret has signed it."""
    found = await platform.store.read(lambda connection: _find(connection, key_id))
    # Asked also where there is no such key: how long an answer takes does not tell which ids there are.
    secret = _open(platform, found[0]) if found else secrets.token_urlsafe(30)
    if not is_signed_with(secret) or found is None:
        raise Unauthenticated("access_key_wrong")
    key, owner, roles = found
    if not owner.is_enabled:
        raise Unauthenticated("account_disabled", user=owner.name)
    now = platform.clock.now()
    if now - (key.last_used_at or 0) > TOUCH_EVERY_S:
        await platform.store.write(lambda tx: keys.touch(tx.connection, key.id, now))
    return Caller(owner.name, owner.is_admin, roles, token_id=key.id)


def _find(connection: sa.Connection, key_id: str) -> tuple[AccessKey, User, dict[str, str]] | None:
    key = keys.find(connection, key_id)
    owner = accounts.user(connection, key.user) if key else None
    return (key, owner, accounts.roles_of(connection, owner.name)) if key and owner else None


def _open(platform: Platform, key: AccessKey) -> str:
    return platform.vault.unseal(key.sealed, _label(key.id, key.user))


def _label(key_id: str, user: str) -> str:
    return f"access key {key_id} of {user}"
