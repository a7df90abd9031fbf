"""Query parameters that a route does not know are refused: a misspelt filter would list everything."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from footplate.domain.errors import InvalidInput, Problem
from footplate.server.sessions import TICKET


async def refuse_unknown(request: Request) -> None:
    """Raise `InvalidInput` for each parameter that the route of a request does not have."""
    if not request.scope["query_string"]:
        return
    route = request.scope.get("route")
    known = set(_names(route.dependant)) if isinstance(route, APIRoute) else set()
    # Browsers may show a ticket instead of a key, wherever they download from.
    unknown = sorted(set(request.query_params) - known - {TICKET})
    if unknown:
        raise InvalidInput([Problem(name[:100], _say(name, sorted(known))) for name in unknown[:100]])


KNOWN_ONLY = Depends(refuse_unknown)


def _say(name: str, known: list[str]) -> str:
    if not known:
        return "is not a parameter of this call, which has none"
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    return f"is not a parameter of this call; {hint}"


def _names(dependant: Any) -> Iterator[str]:
    for parameter in dependant.query_params:
        yield parameter.alias
    for inner in dependant.dependencies:
        yield from _names(inner)
