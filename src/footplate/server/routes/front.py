"""The page at the root, for whoever opens the server's address in a browser."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from footplate import __version__

router = APIRouter(include_in_schema=False)

_PAGE = f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Footplate</title>
<style>
  body {{ font: 16px/1.6 system-ui, sans-serif; max-width: 42rem; margin: 12vh auto; padding: 0 1rem;
         color-scheme: light dark; }}
  code {{ white-space: nowrap; padding: .1em .3em; border: 1px solid; border-radius: .3em; }}
</style>
<h1>Footplate {__version__} is up</h1>
<p>Submit a job from a terminal: <code>footplate submit job.yaml</code>, then <code>footplate list</code>.
<p>Programs talk to <a href="/api/v1/openapi.json">the REST API</a>; editors complete job files by
<a href="/api/v1/schema/job">their JSON schema</a>.
</html>
"""


@router.api_route("/", methods=["GET", "HEAD"], response_class=HTMLResponse)
async def front() -> str:
    return _PAGE
