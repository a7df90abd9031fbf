"""Serves the console's pages."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.routing import Match, Route
from starlette.types import Scope

from footplate import __version__
from footplate.server import apidocs, pages
from footplate.server.bundle import Bundle

_NOT_BUILT = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Footplate</title>
<h1>Footplate {__version__} is up</h1>
<p>The console is not built here: run <code>make console</code> and open this page again.
<p>Submit a job from a terminal: <code>footplate submit job.yaml</code>, then <code>footplate list</code>.
<p>Programs talk to <a href="/docs">the REST API</a>; editors complete job files by
<a href="/api/v1/schema/job">their JSON schema</a>.
</html>
"""
# Styles are written into pages by the component library, scripts never.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; "
    "worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


class _PageRoute(Route):
    """Matches what a browser asks for as a page; other paths stay free for the API and foreign clients."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            return Match.NONE, {}
        accept = dict(scope["headers"]).get(b"accept", b"")
        path = scope["path"]
        if path != "/" and (path.startswith(("/api/", "/assets/")) or b"text/html" not in accept):
            return Match.NONE, {}
        return super().matches(scope)


def install(app: FastAPI, bundle: Bundle) -> None:
    """Serve a built console: its files at their paths, its page at every path that nothing else has.

    Before it come the few pages that the server writes itself.
    """
    written: list[str] = []

    async def docs(_request: Request) -> Response:
        if not written:
            written.append(apidocs.write(app.openapi()))
        return HTMLResponse(written[0], headers=pages.HEADERS)

    async def join(_request: Request) -> Response:
        return HTMLResponse(pages.JOIN, headers=pages.HEADERS)

    async def page(request: Request) -> Response:
        built = bundle.answer("index.html", request.headers, _HEADERS)
        return built or HTMLResponse(_NOT_BUILT, headers=_HEADERS)

    async def file(request: Request) -> Response:
        path = request.url.path.removeprefix("/")
        headers = _FOR_EVER if path.startswith("assets/") else _HEADERS
        return bundle.answer(path, request.headers, headers) or Response(status_code=404)

    for path in ("/assets/{name}", "/favicon.svg", "/theme.js"):
        app.router.routes.append(Route(path, file))
    app.router.routes += [Route("/docs", docs), Route("/join", join)]
    app.router.routes.append(_PageRoute("/{path:path}", page))
