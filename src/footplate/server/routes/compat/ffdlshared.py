"""Who calls in the ways of FfDL and Prophecis, and refusals in their shapes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.requests import HTTPConnection
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from starlette.datastructures import Headers

from footplate.dialects.ffdl.views import FFDL, PROPHECIS
from footplate.domain.errors import Denied, FootplateError, InvalidInput, NotFound, Unauthenticated
from footplate.domain.problems import is_writable
from footplate.server.addresses import neighbourhood
from footplate.server.errors import Refusal, status_of
from footplate.server.parts import Parts, parts_of
from footplate.server.routes.compat.asked import check_address
from footplate.services import access_keys
from footplate.services.access import Caller

log = logging.getLogger(__name__)

LABEL = "ffdl"
TOKEN_LIVES_S = 3600
SYSTEM = "SYSTEM"
MISSING_IDENTITY = {"message": "Missing or malformed X-Watson-Userinfo header."}
NO_MODEL = "Model not found."
MOST_REMEMBERED = 1000
GONE = 410


class Expired(NotFound):
    """What was there is kept no longer."""


def dialect_of(connection: HTTPConnection) -> str:
    return PROPHECIS if connection.url.path.startswith("/di/") else FFDL


class Remembered:
    """Tokens for names and passwords that were right: a client sends them with every request."""

    def __init__(self) -> None:
        self._tokens: dict[str, str] = {}

    async def identify(self, parts: Parts, name: str, password: str, address: str) -> Caller:
        key = hashlib.sha256(f"{name}\0{password}".encode()).hexdigest()
        known = self._tokens.get(key)
        if known is not None:
            try:
                return await parts.accounts.identify(known)
            except Unauthenticated:
                self._tokens.pop(key, None)
        token, _ = await parts.accounts.login(name, password, address, LABEL, TOKEN_LIVES_S)
        if len(self._tokens) >= MOST_REMEMBERED:
            self._tokens.clear()
        self._tokens[key] = token
        return await parts.accounts.identify(token)


async def caller_of(connection: HTTPConnection) -> Caller:
    """Say who calls: by Basic, by the headers of Prophecis, by an access key, or by a token of ours.

    What X-Watson-Userinfo and MLSS-UserID say without a password is believed of nobody.
    """
    parts, headers = parts_of(connection), connection.headers
    token = headers.get("mlss-token", "")
    scheme, _, word = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        token = word.strip()
    if token:
        return await parts.accounts.identify(token)
    if headers.get("mlss-auth-type", "").upper() == SYSTEM:
        return await _program_of(parts, headers)
    pair = _of_prophecis(headers.get("mlss-userid", ""), headers.get("mlss-passwd", ""))
    if scheme.lower() == "basic" and not all(pair):
        pair = _basic(word)
    if not is_writable("".join(pair)):
        raise Unauthenticated("wrong_password", user="")
    if not all(pair):
        kept = parts.sessions.token_of(connection, parts.platform.clock.now())
        if kept:
            return await parts.accounts.identify(kept)
        raise Unauthenticated("token_needed")
    address = neighbourhood(parts.settings.proxies.caller(connection))
    state = connection.app.state
    if not hasattr(state, "ffdl_remembered"):
        state.ffdl_remembered = Remembered()
    caller: Caller = await state.ffdl_remembered.identify(parts, *pair, address)
    return caller


async def _program_of(parts: Parts, headers: Headers) -> Caller:
    """Say who calls by an access key, whose secret Prophecis' programs send as what they call a signature.

    There, some keys spoke for everybody. Here each speaks for its owner.
    """
    given = headers.get("mlss-appsignature", "").encode()
    caller = await access_keys.identify(
        parts.platform,
        headers.get("mlss-appid", "")[:128],
        lambda secret: hmac.compare_digest(secret.encode(), given),
    )
    if headers.get("mlss-userid", "") != caller.name:
        raise Unauthenticated("access_key_wrong")
    return caller


def _basic(word: str) -> tuple[str, str]:
    try:
        name, _, password = base64.b64decode(word, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return "", ""
    return name, password


def _of_prophecis(name: str, sent: str) -> tuple[str, str]:
    """Their command sends the password in base64; one that is none is taken as it is."""
    try:
        return name, base64.b64decode(sent, validate=True).decode()
    except (binascii.Error, ValueError):
        return name, sent


def refusal(error: FootplateError, dialect: str, is_of_model: bool = False) -> Response:
    """An error in the words of the dialect."""
    status = GONE if isinstance(error, Expired) else status_of(error)
    if isinstance(error, Unauthenticated) and dialect == FFDL and str(error.said.code) == "token_needed":
        return JSONResponse(MISSING_IDENTITY, 401)
    if isinstance(error, Unauthenticated):
        status = 401 if dialect == FFDL else 403
    elif isinstance(error, Denied):
        # FfDL has no word for what is there and belongs to others.
        status = 404 if dialect == FFDL else 403
    elif isinstance(error, InvalidInput):
        status = 400
    told = str(error.said)
    if isinstance(error, InvalidInput):
        told = "; ".join(f"{one.path}: {one.said}" if one.path else str(one.said) for one in error.problems)
    is_private = isinstance(error, Denied) and is_of_model
    if dialect == FFDL and (is_private or isinstance(error, NotFound)):
        # A model of others is not there, whatever we know of it.
        said = NO_MODEL if is_private else told
        return JSONResponse({"code": status, "error": "Not found", "description": said}, status)
    word = "description" if dialect == FFDL else "msg"
    return JSONResponse({"code": status, "error": told, word: told}, status)


def _body_of(refused: Refusal, word: str) -> dict[str, Any]:
    said = refused.error.message
    return {"code": refused.status, "error": said, word: said}


# Of what is refused before a route is asked, or because one broke.
ERROR_BODIES = {
    "/v1": lambda refused: _body_of(refused, "description"),
    "/di": lambda refused: _body_of(refused, "msg"),
}


class FfdlRoute(APIRoute):
    """Answers errors in the shape of the dialect."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            try:
                check_address(request)
                return await answer(request)
            except FootplateError as error:
                return refusal(error, dialect_of(request), "model" in request.path_params)

        return guarded
