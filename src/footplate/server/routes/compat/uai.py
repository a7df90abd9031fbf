"""UAI-Train: its twenty actions, all of them in the query of a GET.

The query also has the user's private key. The door has taken it out of the request by now, so that no log of
requests has it; nothing here may write it anywhere either.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.responses import Response

from footplate.dialects.uai import refusals, signature
from footplate.domain.errors import FootplateError, InvalidInput, Unauthenticated
from footplate.server.foreign import PREFIX
from footplate.server.parts import Parts, parts_of
from footplate.server.routes.compat import uaichoices, uaijobs
from footplate.server.routes.compat.signed import foreign_of
from footplate.services import access_keys
from footplate.services.access import Caller

log = logging.getLogger(__name__)
router = APIRouter(prefix=f"{PREFIX}/uai", include_in_schema=False)
MOST_PARAMETERS = 100

Parameters = Mapping[str, str]
Answers = Callable[[Parts, Caller, Parameters], Awaitable[dict[str, Any]]]
ACTIONS: Mapping[str, Answers] = {**uaichoices.ACTIONS, **uaijobs.ACTIONS}


@router.api_route("", methods=["GET"])
async def answer(request: Request) -> Response:
    """Answer a signed request; what is refused is told by a number in the body."""
    action = ""
    try:
        parameters = _parameters(foreign_of(request).query)
        action = parameters.get("Action", "")[:64]
        return _told(refusals.answer(action, await _answered(parts_of(request), action, parameters)))
    except FootplateError as error:
        return _told(refusals.refusal(action, refusals.number_of(error), str(error.said)))
    except Exception as error:  # noqa: BLE001  # the top of a request
        # Neither the error's words nor its values: they may quote the request, and with it the private key.
        log.error("the action %s of UAI-Train failed: %s", action, type(error).__name__)  # noqa: TRY400
        return _told(refusals.refusal(action, 130, "the server could not do this"))


def _told(body: dict[str, Any]) -> Response:
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, media_type="application/json")


def _parameters(query: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            query, keep_blank_values=True, max_num_fields=MOST_PARAMETERS, errors="surrogateescape"
        )
    except ValueError:
        raise InvalidInput("too_many_entries", "query", most=MOST_PARAMETERS, given="more") from None
    return dict(pairs)


async def _answered(parts: Parts, action: str, parameters: dict[str, str]) -> dict[str, Any]:
    if not action:
        raise InvalidInput("action_missing", "Action")
    if not parameters.get(signature.FIELD) or not parameters.get("PublicKey"):
        raise Unauthenticated("signature_missing")
    caller = await access_keys.identify(
        parts.platform, parameters["PublicKey"][:128], partial(signature.is_signed, parameters)
    )
    if action not in ACTIONS:
        raise InvalidInput("action_unknown", "Action", action=action)
    # What proves who is calling, and what opens the data elsewhere, is nobody's matter from here on.
    own = {name: value for name, value in parameters.items() if name not in _SECRET}
    return await ACTIONS[action](parts, caller, own)


_SECRET = frozenset({"TrainPrivateKey", "TrainPublicKey", signature.FIELD})
