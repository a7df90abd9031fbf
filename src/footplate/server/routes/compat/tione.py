"""TI-ONE: the actions of training tasks and models, as tikit asks for them."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from footplate.dialects.fields import Reader
from footplate.dialects.tione import refusals, signature
from footplate.domain.errors import FootplateError, InvalidInput, Unauthenticated
from footplate.server.foreign import PREFIX
from footplate.server.parts import Parts, parts_of
from footplate.server.routes.compat import tionemodels, tionereading, tionetasks
from footplate.server.routes.compat.signed import body_of, headers_of, request_id
from footplate.services import access_keys
from footplate.services.access import Caller

log = logging.getLogger(__name__)
router = APIRouter(prefix=f"{PREFIX}/tione", include_in_schema=False)
MOST_BODY_BYTES = 1024**2

Answers = Callable[[Parts, Caller, Reader], Awaitable[dict[str, Any]]]
ACTIONS: Mapping[str, Answers] = {**tionetasks.ACTIONS, **tionereading.ACTIONS, **tionemodels.ACTIONS}


@router.api_route("", methods=["POST", "GET"])
async def answer(request: Request) -> Response:
    """Answer a signed request; also a refusal has the status 200, since the client reads no other."""
    made = request_id(request)
    try:
        return _told(refusals.answer(await _answered(request), made))
    except FootplateError as error:
        return _told(refusals.refusal(refusals.code_of(error), str(error.said), made))
    except Exception:
        log.exception("a request to TI-ONE failed")
        return _told(refusals.refusal("InternalError", "the server could not do this", made))


def _told(body: dict[str, Any]) -> Response:
    # Not one letter more: with a charset behind it, the client takes a refusal for an empty answer.
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, headers={"Content-Type": "application/json"})


async def _answered(request: Request) -> dict[str, Any]:
    parts, headers = parts_of(request), headers_of(request)
    body = await body_of(request, MOST_BODY_BYTES)
    given = signature.read(headers.get("authorization", ""))
    if given is None:
        raise Unauthenticated("signature_missing")
    timestamp = headers.get("x-tc-timestamp", "")
    if not signature.is_timely(timestamp, given.date, parts.platform.clock.now()):
        raise Unauthenticated("signature_too_old")
    signed = signature.Signed(request.method, headers, body, timestamp)
    caller = await access_keys.identify(
        parts.platform, given.key_id, partial(signature.is_signed, given, signed)
    )
    name = headers.get("x-tc-action", "")
    if name not in ACTIONS:
        raise InvalidInput("action_unknown", "X-TC-Action", action=name[:64])
    return await ACTIONS[name](parts, caller, Reader(_read(body)))


def _read(body: bytes) -> Any:
    try:
        return json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise InvalidInput("not_json", "body") from None
