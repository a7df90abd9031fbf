"""OpenPAI's REST server, as its own clients ask for it: both versions below one prefix."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from footplate.server.routes.compat import paicluster, paijobs, paipeople, paissh, paitasks
from footplate.server.routes.compat.paiedge import PREFIX, PaiRoute, Refused, body_of

__all__ = ["PREFIX", "body_of", "router"]

router = APIRouter(include_in_schema=False, route_class=PaiRoute)


@router.get("/healthz")
@router.get(f"{PREFIX}/healthz")
async def healthz() -> Response:
    """Tell clients that look for the proxy that it is there."""
    return PlainTextResponse("ok")


for module in (paijobs, paissh, paitasks, paipeople, paicluster):
    router.include_router(module.router, prefix=f"{PREFIX}/api")


@router.options(f"{PREFIX}/{{path:path}}")
async def asked_before() -> Response:
    """Answer browsers that ask what pages of other servers may send."""
    allowed = {
        "Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, DELETE",
        "Access-Control-Allow-Headers": "Authorization, Content-Type",
        "Access-Control-Max-Age": "86400",
    }
    return Response(status_code=204, headers=allowed)


@router.api_route(f"{PREFIX}/{{path:path}}", methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
async def nothing_here(request: Request) -> Response:
    raise Refused(404, "NoApiError", f"API {request.url.path[:255]} is not found.")
