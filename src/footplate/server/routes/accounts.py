"""Signing in, tokens and users over REST."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from footplate.server.addresses import neighbourhood
from footplate.server.auth import Signed, Wired
from footplate.services.access import Caller
from footplate.services.accounts import Account, Change
from footplate.store.account_queries import Token
from footplate.store.group_queries import Profile
from footplate.wire.accounts import (
    IssuedToken,
    Login,
    Me,
    NewToken,
    NewUser,
    PasswordChange,
    RevokedTokens,
    Tokens,
    UserBody,
    UserChange,
    Users,
)
from footplate.wire.body import Text
from footplate.wire.convert import instant

router = APIRouter(tags=["accounts"])


def show_roles(roles: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": queue, "role": role} for queue, role in sorted(roles.items())]


def _user(account: Account) -> dict[str, Any]:
    user = account.user
    return {
        "name": user.name,
        "is_admin": user.is_admin,
        "is_enabled": user.is_enabled,
        "created_at": instant(user.created_at),
        "full_name": account.profile.full_name,
        "email": account.profile.email,
        "last_seen_at": instant(user.last_seen_at),
        "queues": show_roles(account.roles),
    }


def show_issued(text: str, token: Token) -> dict[str, Any]:
    return {
        "token": text,
        "id": token.id,
        "user": token.user,
        "name": token.name,
        "expires_at": instant(token.expires_at),
    }


@router.post("/login", response_model=IssuedToken)
async def login(request: Request, parts: Wired, body: Login) -> dict[str, Any]:
    """Exchange name and password for a token."""
    address = neighbourhood(parts.settings.proxies.caller(request))
    issued = await parts.accounts.login(
        body.user, body.password, address, body.name, body.expires_in_s, body.replaces
    )
    return show_issued(*issued)


@router.get("/me", response_model=Me)
async def me(caller: Signed) -> dict[str, Any]:
    """Who is calling, and where they may submit."""
    return show_me(caller)


def show_me(caller: Caller) -> dict[str, Any]:
    return {
        "name": caller.name,
        "is_admin": caller.is_admin,
        "job_id": caller.job_id,
        "queues": show_roles(dict(caller.roles)),
    }


@router.post("/me/password", status_code=204)
async def change_password(parts: Wired, caller: Signed, body: PasswordChange) -> Response:
    """Set one's own password; all tokens of the account are revoked."""
    await parts.accounts.change_password(caller, body.old_password, body.new_password)
    return Response(status_code=204)


@router.get("/tokens", response_model=Tokens)
async def tokens(parts: Wired, caller: Signed) -> dict[str, Any]:
    """One's own tokens, without their secrets."""
    return {
        "items": [
            {
                "id": token.id,
                "name": token.name,
                "created_at": instant(token.created_at),
                "expires_at": instant(token.expires_at),
                "last_used_at": instant(token.last_used_at),
                "is_current": token.id == caller.token_id,
            }
            for token in await parts.accounts.tokens(caller)
        ]
    }


@router.post("/tokens", status_code=201, response_model=IssuedToken)
async def add_token(parts: Wired, caller: Signed, body: NewToken) -> dict[str, Any]:
    """Make a token; its secret is shown this once."""
    return show_issued(*await parts.accounts.issue(caller, body.name, body.expires_in_s))


@router.delete("/tokens", response_model=RevokedTokens)
async def revoke_others(parts: Wired, caller: Signed) -> dict[str, int]:
    """Revoke all of one's own tokens but the one that this call is made with."""
    return {"n_revoked": await parts.accounts.revoke_others(caller)}


@router.delete("/tokens/{token_id}", status_code=204)
async def revoke(parts: Wired, caller: Signed, token_id: Text) -> Response:
    """Revoke one of one's own tokens."""
    await parts.accounts.revoke(caller, token_id)
    return Response(status_code=204)


@router.get("/users", response_model=Users)
async def users(parts: Wired, caller: Signed) -> dict[str, Any]:
    """All accounts."""
    return {"items": [_user(found) for found in await parts.accounts.users(caller)]}


@router.post("/users", status_code=201, response_model=UserBody)
async def add_user(parts: Wired, caller: Signed, body: NewUser) -> dict[str, Any]:
    """Add an account."""
    profile = Profile(body.email, full_name=body.full_name)
    roles = dict(body.queues)
    added = await parts.accounts.add(caller, body.name, body.password, body.is_admin, roles, profile)
    return _user(added)


@router.get("/users/{name}", response_model=UserBody)
async def user(parts: Wired, caller: Signed, name: Text) -> dict[str, Any]:
    """One account."""
    return _user(await parts.accounts.user(caller, name))


@router.patch("/users/{name}", response_model=UserBody)
async def change_user(parts: Wired, caller: Signed, name: Text, body: UserChange) -> dict[str, Any]:
    """Change an account (admin), or one's own full name and e-mail address."""
    return _user(await parts.accounts.change(caller, name, Change(**body.model_dump())))


@router.delete("/users/{name}", status_code=204)
async def remove_user(parts: Wired, caller: Signed, name: Text) -> Response:
    """Remove an account; its jobs stay."""
    await parts.accounts.remove(caller, name)
    return Response(status_code=204)
