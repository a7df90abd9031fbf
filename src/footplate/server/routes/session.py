"""Signing a browser in and out over REST."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from footplate.domain.errors import Conflict, Unauthenticated
from footplate.server.addresses import neighbourhood
from footplate.server.auth import Signed, Wired, caller_of
from footplate.server.parts import Parts
from footplate.server.routes.accounts import show_me
from footplate.server.routes.events import last_seq
from footplate.server.sessions import SESSION_S
from footplate.wire.accounts import (
    NewSession,
    NewSignInLink,
    NewTicket,
    Session,
    SessionLogin,
    SignInCode,
    SignInLink,
    Ticket,
)
from footplate.wire.convert import instant

router = APIRouter(prefix="/session", tags=["accounts"])

LABEL = "console"
# The page of the console that follows links.
ENTER = "/enter"


@router.get("", response_model=Session)
async def current(request: Request, parts: Wired) -> dict[str, Any]:
    """Who is signed in here; nobody is an answer too."""
    try:
        user = show_me(await caller_of(request))
    except Unauthenticated:
        return {"user": None, "last_event": 0}
    return {"user": user, "last_event": await last_seq(parts)}


@router.post("", response_model=NewSession)
async def sign_in(request: Request, parts: Wired, body: SessionLogin) -> Response:
    """Sign a browser in: a cookie that its pages cannot read, and a key for them to send along."""
    address = neighbourhood(parts.settings.proxies.caller(request))
    token, _ = await parts.accounts.login(body.user, body.password, address, LABEL, SESSION_S)
    return await _open_session(request, parts, token)


async def _open_session(request: Request, parts: Parts, token: str) -> Response:
    caller = await parts.accounts.identify(token)
    if earlier := parts.sessions.cookie_of(request):
        # The new cookie takes the place of this one, which nobody could sign out any more.
        await parts.accounts.sign_out(earlier)
    response = JSONResponse({"key": parts.sessions.key_of(token), "user": show_me(caller)})
    parts.sessions.keep(response, token)
    return response


@router.delete("", status_code=204)
async def sign_out(request: Request, parts: Wired) -> Response:
    """Sign a browser out; that nobody was signed in is fine."""
    token = parts.sessions.token_of(request, parts.platform.clock.now())
    if token is not None:
        await parts.accounts.sign_out(token)
    response = Response(status_code=204)
    parts.sessions.forget(response)
    return response


@router.post("/links", status_code=201, response_model=SignInLink)
async def add_link(parts: Wired, caller: Signed, body: NewSignInLink) -> dict[str, Any]:
    """A link that signs a browser in as the caller, once and for a short while."""
    code, expires_at = await parts.sign_in_links.make(caller, body.expires_in_s)
    leads_to = "" if body.path == "/" else f"?{urlencode({'next': body.path})}"
    # Behind the mark, where no proxy and no log sees it.
    return {"link": f"{parts.settings.url}{ENTER}{leads_to}#{code}", "expires_at": instant(expires_at)}


@router.post("/links/follow", response_model=NewSession)
async def follow_link(request: Request, parts: Wired, body: SignInCode) -> Response:
    """Sign a browser in by a link; the link is used up."""
    token, _ = await parts.sign_in_links.follow(body.code, LABEL, SESSION_S)
    return await _open_session(request, parts, token)


@router.post("/tickets", status_code=201, response_model=Ticket)
async def add_ticket(request: Request, parts: Wired, _caller: Signed, body: NewTicket) -> dict[str, str]:
    """What to add as `ticket` to a path so that a browser can download it, for a minute."""
    now = parts.platform.clock.now()
    token = parts.sessions.token_of(request, now)
    if token is None:
        raise Conflict("ticket_needs_session")
    return {"ticket": parts.sessions.ticket_for(token, body.path, now)}
