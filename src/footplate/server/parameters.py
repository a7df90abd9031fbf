"""Query parameters that a route does not know are refused: a misspelt filter would list everything."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from fastapi import Depends
from fastapi.requests import HTTPConnection
from fastapi.routing import APIRoute, APIWebSocketRoute

from footplate.domain.errors import InvalidInput, Problem
from footplate.domain.messages import Message, say
from footplate.server.sessions import TICKET


async def refuse_unknown(request: HTTPConnection) -> None:
    """Raise `InvalidInput` for each parameter that the route of a request does not have."""
    if not request.scope["query_string"]:
        return
    route = request.scope.get("route")
    known = set(_names(route.dependant)) if isinstance(route, APIRoute | APIWebSocketRoute) else set()
    # Browsers may show a ticket instead of a key, wherever they download from.
    unknown = sorted(set(request.query_params) - known - {TICKET})
    if unknown:
        raise InvalidInput([Problem(name[:100], _refuse(name, sorted(known))) for name in unknown[:100]])


KNOWN_ONLY = Depends(refuse_unknown)


def _refuse(name: str, known: list[str]) -> Message:
    near = difflib.get_close_matches(name, known, 1)
    if near:
        return say("query_unknown_similar", similar=near[0])
    return say("query_unknown", known=known)


def _names(dependant: Any) -> Iterator[str]:
    for parameter in dependant.query_params:
        yield parameter.alias
    for inner in dependant.dependencies:
        yield from _names(inner)
