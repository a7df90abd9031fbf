"""Work for a caller that ends when the caller goes away."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request

Result = TypeVar("Result")


class CallerGone(Exception):
    """Nobody waits for the answer any more."""


async def unless_gone(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Do the work, or cancel it and raise `CallerGone` when the connection closes; the body must be read."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_closed(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise CallerGone
    finally:
        for one in (working, leaving):
            one.cancel()
        # What the work holds is given back before anybody hears that it is over.
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _closed(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
