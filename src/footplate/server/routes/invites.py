"""Invitations over REST, and the client for those who follow one."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from footplate.domain.errors import NotFound
from footplate.server.auth import Signed, Wired
from footplate.server.parts import Parts
from footplate.server.routes.accounts import show_issued, show_roles
from footplate.server.wheel import client_wheel
from footplate.services.invites import Invites
from footplate.store.invite_queries import Invite
from footplate.wire import invites as w
from footplate.wire.accounts import IssuedToken
from footplate.wire.body import Text
from footplate.wire.convert import instant

router = APIRouter(tags=["accounts"])

JOIN = "/join"
# Where the line puts the client: a folder of its own, since most systems refuse a pip without one.
_PLACE = "~/.footplate-client"


def _invites(parts: Parts) -> Invites:
    return Invites(parts.platform, parts.accounts)


def _view(invite: Invite) -> dict[str, Any]:
    return {
        "user": invite.user,
        "is_admin": invite.is_admin,
        "queues": show_roles(dict(invite.queues)),
        "invited_by": invite.invited_by,
        "created_at": instant(invite.created_at),
        "expires_at": instant(invite.expires_at),
    }


@router.get("/invites", response_model=w.Invites)
async def invites(parts: Wired, caller: Signed) -> dict[str, Any]:
    """The invitations that nobody has followed yet."""
    return {"items": [_view(one) for one in await _invites(parts).every(caller)]}


@router.post("/invites", status_code=201, response_model=w.MadeInvite)
async def invite(parts: Wired, caller: Signed, body: w.NewInvite) -> dict[str, Any]:
    """Invite somebody; the link in the answer makes the account, once."""
    code, made = await _invites(parts).make(
        caller, body.user, body.is_admin, dict(body.queues), body.expires_in_s
    )
    wheel = await asyncio.to_thread(client_wheel)
    url = parts.settings.url
    # Behind the mark, where no proxy and no log sees it.
    link = f"{url}{JOIN}#{code}"
    line = (
        f"python3 -m venv {_PLACE} && {_PLACE}/bin/pip install -q "
        f"'{url}/api/v1/client/{wheel.name}#sha256={wheel.sha256}' && {_PLACE}/bin/footplate join '{link}'"
    )
    return {**_view(made), "link": link, "line": line}


@router.post("/invites/lookup", response_model=w.InviteBody)
async def lookup(parts: Wired, body: w.InviteCode) -> dict[str, Any]:
    """What an invitation is for, for whoever has its code."""
    return _view(await _invites(parts).lookup(body.code))


@router.post("/invites/accept", status_code=201, response_model=IssuedToken)
async def accept(parts: Wired, body: w.InviteAnswer) -> dict[str, Any]:
    """Follow an invitation: make the account with a password of one's own, and get a token."""
    return show_issued(*await _invites(parts).accept(body.code, body.password, body.name, body.expires_in_s))


@router.delete("/invites/{user}", status_code=204)
async def revoke(parts: Wired, caller: Signed, user: Text) -> Response:
    """Take an invitation back."""
    await _invites(parts).revoke(caller, user)
    return Response(status_code=204)


@router.get(
    "/client/{file}",
    response_class=Response,
    responses={200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}},
)
async def client(file: Text) -> Response:
    """The Python client of this server's version, as a wheel for pip; for anybody."""
    wheel = await asyncio.to_thread(client_wheel)
    if file != wheel.name:
        raise NotFound("client_unknown", file=file, known=wheel.name)
    return Response(wheel.content, media_type="application/zip")
