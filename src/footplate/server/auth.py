"""Who is calling: the bearer token of a request, as a dependency of routes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from footplate.domain.errors import Unauthenticated
from footplate.server.parts import Parts, parts_of
from footplate.services.access import Caller


async def _caller(request: Request) -> Caller:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated(
            "this call needs a token in the header `Authorization: Bearer …`: sign in with `footplate login`"
        )
    return await parts_of(request).accounts.identify(token.strip())


async def _parts(request: Request) -> Parts:
    return parts_of(request)


# For routes that need a caller but do not look at who it is.
SIGNED_IN = Depends(_caller)
Signed = Annotated[Caller, Depends(_caller)]
Wired = Annotated[Parts, Depends(_parts)]
