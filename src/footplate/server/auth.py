"""Who is calling: by the bearer token of a request or a browser's session, as a dependency of routes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, FastAPI
from fastapi.requests import HTTPConnection

from footplate.domain.errors import Unauthenticated
from footplate.server.parts import Parts, parts_of
from footplate.services.access import Caller
from footplate.wire.told import message_list


async def caller_of(connection: HTTPConnection) -> Caller:
    """Say who sent a request, or opened a WebSocket."""
    parts = parts_of(connection)
    given = connection.headers.get("authorization")
    if given is None:
        token = parts.sessions.token_of(connection, parts.platform.clock.now()) or ""
    else:
        scheme, _, word = given.partition(" ")
        token = word.strip() if scheme.lower() == "bearer" else ""
    if not token:
        raise Unauthenticated("token_needed")
    return await parts.accounts.identify(token)


async def _parts(connection: HTTPConnection) -> Parts:
    return parts_of(connection)


# For routes that need a caller but do not look at who it is.
SIGNED_IN = Depends(caller_of)
Signed = Annotated[Caller, Depends(caller_of)]
Wired = Annotated[Parts, Depends(_parts)]

# What answers without a token, by the end of its path.
OPEN_PATHS = (
    "/login",
    "/session",
    "/health",
    "/version",
    "/schema/job",
    "/session/links/follow",
    "/invites/lookup",
    "/invites/accept",
    "/client/{file}",
)


def describe_more(app: FastAPI) -> None:
    """Say in the published description which calls need a token, and which messages there are."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            description = plain()
            schemes = description["components"].setdefault("securitySchemes", {})
            schemes["token"] = {"type": "http", "scheme": "bearer"}
            for path, operations in description["paths"].items():
                for operation in operations.values():
                    operation["security"] = [] if path.endswith(OPEN_PATHS) else [{"token": []}]
            description["x-messages"] = message_list()
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]  # the documented way to add to it
