"""The address for services: who may pass is known by a cookie of one service, which stops here."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.types import Receive, Scope, Send

from footplate.domain.errors import Conflict, FootplateError
from footplate.domain.messages import say
from footplate.engines.base import Stream
from footplate.server.parts import Parts
from footplate.server.proxy.desktop import asset_of, relay_bytes, send_asset, send_page
from footplate.server.proxy.origins import address_of, is_asked_by_itself, is_at_home
from footplate.server.proxy.refusals import close, refuse
from footplate.server.proxy.requests import relay
from footplate.server.proxy.websockets import relay_websocket
from footplate.server.together import until_first
from footplate.services.access import Caller
from footplate.services.entering import find_enterable
from footplate.services.openings import Opening
from footplate.services.programs import DESKTOP
from footplate.services.servicetickets import COOKIE_S

TICKET = "footplate-ticket"
COOKIE = "footplate_service"
_PLACE = re.compile(r"(/s/[0-9a-z]{12}/[A-Za-z0-9._~-]{1,80}/[a-z0-9]{1,20}/)(.*)", re.DOTALL)
# How soon a browser is out that may no longer be in.
WATCH_EVERY_S = 2.0
_CLOSED = say("service_closed_here")


async def opened(
    parts: Parts,
    caller: Caller,
    job_id: str,
    service: str,
    task: str | None = None,
    others: Sequence[str] = (),
) -> tuple[Opening, str]:
    """Open a service, and make an address that lets a browser of the caller in, once."""
    await find_enterable(parts.platform, caller, job_id, "service")
    if not parts.settings.services_address:
        raise Conflict("services_off")
    opening = await parts.openings.open(caller, job_id, service, task, others)
    ticket = parts.openings.tickets.issue(caller, opening.prefix)
    return opening, f"{address_of(parts.settings, opening.prefix)}{opening.prefix}?{TICKET}={ticket}"


class ServiceDoor:
    """Lets browsers through to services; everything else is told where it is."""

    def __init__(self, parts: Callable[[], Parts | None]) -> None:
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return
        if scope["type"] == "http" and (asset := asset_of(scope["path"])):
            await send_asset(scope, send, asset)
            return
        parts = self._parts()
        found = _PLACE.fullmatch(scope["path"])
        if parts is None or found is None or not is_at_home(scope, parts.settings, found[1]):
            await refuse(scope, send, 404, _CLOSED)
            return
        prefix = found[1]
        query = scope["query_string"].decode("latin-1")
        if scope["type"] == "http" and TICKET in query:
            await self._exchange(scope, send, parts, prefix, query)
            return
        cookie = _cookie_of(scope)
        opening = await _admitted(parts, prefix, cookie)
        if opening is None:
            await refuse(scope, send, 403, _CLOSED)
        elif not is_asked_by_itself(scope, prefix):
            await refuse(scope, send, 403, say("service_asked_elsewhere"))
        elif scope["type"] == "http" and opening.name == DESKTOP:
            await send_page(scope, send, opening, found[2])
        else:
            await self._pass_on(scope, receive, send, parts, opening, cookie)

    async def _pass_on(
        self, scope: Scope, receive: Receive, send: Send, parts: Parts, opening: Opening, cookie: str
    ) -> None:
        try:
            async with parts.openings.using(opening) as stream:
                if scope["type"] == "http":
                    barred = partial(_until_barred, parts, opening, cookie)
                    await relay(scope, receive, send, stream, _inner_path(scope, opening), opening, barred)
                else:
                    line = _carry(scope, receive, send, stream, opening)
                    await _while_admitted(line, scope, send, parts, opening, cookie)
        except FootplateError as error:
            await refuse(scope, send, 502, error.said)

    async def _exchange(self, scope: Scope, send: Send, parts: Parts, prefix: str, query: str) -> None:
        """Take a ticket for a cookie, and lead to the same address without it."""
        pairs = parse_qsl(query, keep_blank_values=True)
        tickets = [value for name, value in pairs if name == TICKET]
        value = parts.openings.tickets.redeem(prefix, tickets[0]) if tickets else None
        if value is None:
            await refuse(scope, send, 403, _CLOSED)
            return
        rest = urlencode([pair for pair in pairs if pair[0] != TICKET])
        secure = "; Secure" if parts.settings.services_address.startswith("https:") else ""
        cookie = f"{COOKIE}={value}; Path={prefix}; Max-Age={COOKIE_S}; HttpOnly; SameSite=Lax{secure}"
        target = scope["path"] + (f"?{rest}" if rest else "")
        headers = [
            (b"location", target.encode("latin-1", "replace")),
            (b"set-cookie", cookie.encode()),
            (b"cache-control", b"no-store"),
            (b"referrer-policy", b"no-referrer"),
            (b"content-length", b"0"),
        ]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def _cookie_of(scope: Scope) -> str:
    given = dict(scope["headers"]).get(b"cookie", b"").decode("latin-1")
    try:
        found = SimpleCookie(given).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


async def _admitted(parts: Parts, prefix: str, cookie: str) -> Opening | None:
    try:
        return await parts.openings.admit(prefix, cookie) if cookie else None
    except FootplateError:
        return None


def _inner_path(scope: Scope, opening: Opening) -> bytes:
    path: bytes = scope["raw_path"].split(b"?")[0]
    return path if opening.keeps_prefix else b"/" + path[len(opening.prefix) :]


async def _carry(scope: Scope, receive: Receive, send: Send, stream: Stream, opening: Opening) -> None:
    if opening.name == DESKTOP:
        await relay_bytes(scope, receive, send, stream)
    else:
        await relay_websocket(scope, receive, send, stream, _inner_path(scope, opening), opening)


async def _until_barred(parts: Parts, opening: Opening, cookie: str) -> None:
    """Wait until a browser may no longer be here: rights, tokens and jobs go."""
    await asyncio.sleep(WATCH_EVERY_S)
    while await _admitted(parts, opening.prefix, cookie) is not None:
        await asyncio.sleep(WATCH_EVERY_S)


async def _while_admitted(
    line: Coroutine[Any, Any, None], scope: Scope, send: Send, parts: Parts, opening: Opening, cookie: str
) -> None:
    """Carry a WebSocket for as long as its browser may be here."""
    carried, barred = await until_first(line, _until_barred(parts, opening, cookie))
    if barred is None:
        await close(scope, send, _CLOSED)
    elif isinstance(carried, Exception):
        raise carried
