"""Routes that read the request themselves."""

from __future__ import annotations

from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import request_response


class PlainRoute(APIRoute):
    """Hands its function the bare request.

    It is described like any other route, but nothing is injected: that halves what a call costs. For
    the one call that comes in bursts of thousands.
    """

    def __init__(self, path: str, endpoint: Any, **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self.app = request_response(endpoint)
