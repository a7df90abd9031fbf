"""The calls to Prophecis' control centre that its training pages need: sign in, and namespaces."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from footplate.domain.errors import Denied, FootplateError, InvalidInput
from footplate.server.addresses import neighbourhood
from footplate.server.errors import Refusal, status_of
from footplate.server.parts import parts_of
from footplate.server.routes.compat.asked import check_document
from footplate.server.routes.compat.ffdlshared import LABEL, TOKEN_LIVES_S, caller_of
from footplate.services.access import RANKS, Caller

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

PREFIX = "/cc/v1"
router = APIRouter(prefix=PREFIX, include_in_schema=False)
KEY_BITS = 2048
# Of admins, and of everybody else, in the words of Prophecis.
ROLES = {"admin": "GA", "member": "GU", "viewer": "VIEWER"}


def _told(result: Any, status: int = 200, message: str = "success") -> Response:
    return JSONResponse({"code": status, "message": message, "result": result}, status)


def _refused(error: FootplateError) -> Response:
    status = 400 if isinstance(error, InvalidInput) else status_of(error)
    return _told(None, status, str(error.said))


def body_of(refused: Refusal) -> dict[str, Any]:
    """The body of what is refused before any of these routes is asked, or because one broke."""
    return {"code": refused.status, "message": refused.error.message, "result": None}


def _key(request: Request) -> RSAPrivateKey:
    """The key pair under which passwords are sent; it lives as long as the server."""
    state = request.app.state
    if not hasattr(state, "cc_key"):
        # Imported here: a start pays nothing for it.
        from cryptography.hazmat.primitives.asymmetric import rsa

        state.cc_key = rsa.generate_private_key(public_exponent=65_537, key_size=KEY_BITS)
    key: RSAPrivateKey = state.cc_key
    return key


@router.get("/getrsapubkey")
async def public_key(request: Request) -> Response:
    """The key with which a browser encrypts the password."""
    from cryptography.hazmat.primitives import serialization

    form = serialization.PublicFormat.SubjectPublicKeyInfo
    public = _key(request).public_key().public_bytes(serialization.Encoding.PEM, form)
    return _told(public.decode())


@router.post("/LDAPlogin")
async def login(request: Request) -> Response:
    """Exchange name and password, encrypted or not, for a token."""
    try:
        body = await request.json()
        name, sent = str(body["username"]), str(body["password"])
    except (ValueError, KeyError, TypeError):
        return _told(None, 400, "username and password are required")
    parts = parts_of(request)
    address = neighbourhood(parts.settings.proxies.caller(request))
    try:
        password = _decrypted(request, sent)
        check_document([name, password])
        token, _ = await parts.accounts.login(name, password, address, LABEL, TOKEN_LIVES_S)
        caller = await parts.accounts.identify(token)
    except FootplateError as error:
        return _refused(error)
    told = _told({"userName": caller.name, "isSuperadmin": str(caller.is_admin).lower(), "token": token})
    told.headers["MLSS-Token"] = token
    return told


def _decrypted(request: Request, sent: str) -> str:
    if not hasattr(request.app.state, "cc_key"):
        return sent
    from cryptography.hazmat.primitives.asymmetric import padding

    try:
        return _key(request).decrypt(base64.b64decode(sent, validate=True), padding.PKCS1v15()).decode()
    except (binascii.Error, ValueError):
        return sent


@router.get("/namespaces")
@router.get("/namespaces/myNamespace")
async def namespaces(request: Request) -> Response:
    """The queues in which the caller may submit."""
    try:
        caller = await caller_of(request)
    except FootplateError as error:
        return _refused(error)
    return _told([{"namespace": name, "role": _role(caller, name)} for name in _queues(request, caller)])


def _queues(request: Request, caller: Caller) -> list[str]:
    known = parts_of(request).platform.cluster.queues
    return [name for name in sorted(known) if caller.rank_in(name) >= RANKS["member"]]


def _role(caller: Caller, queue: str) -> str:
    return "SA" if caller.is_admin else ROLES.get(caller.roles.get(queue, ""), "")


@router.get("/auth/access/users/{user}/namespaces/{namespace}")
@router.get("/auth/access/admin/namespaces/{namespace}/users/{user}")
async def access(request: Request, user: str, namespace: str) -> Response:
    """Tell somebody what they themselves may do in a namespace."""
    try:
        caller = await caller_of(request)
        if user != caller.name or namespace not in _queues(request, caller):
            raise Denied("queue_not_visible", queue=namespace[:64])  # answered below
    except FootplateError as error:
        return _refused(error)
    return _told(_role(caller, namespace))
