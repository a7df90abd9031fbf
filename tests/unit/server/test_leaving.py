"""Work for a caller ends with the caller's connection."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastapi import Request

from footplate.server.leaving import CallerGone, unless_gone


class Caller:
    """A connection that a test closes."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.request = Request({"type": "http", "headers": []}, self.messages.get)

    def leave(self) -> None:
        self.messages.put_nowait({"type": "http.disconnect"})


def test_work_is_done_while_the_caller_stays() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 5

    async def tried() -> int:
        return await unless_gone(Caller().request, work())

    assert asyncio.run(tried()) == 5


def test_what_goes_wrong_is_told() -> None:
    async def work() -> int:
        raise ValueError("no")

    async def tried() -> None:
        with pytest.raises(ValueError, match="no"):
            await unless_gone(Caller().request, work())

    asyncio.run(tried())


def test_work_is_cancelled_and_cleaned_up_when_the_caller_leaves() -> None:
    async def tried() -> list[str]:
        caller, done = Caller(), list[str]()
        caller.messages.put_nowait({"type": "http.request"})

        async def work() -> None:
            try:
                caller.leave()
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                done.append("cleaned up")

        with pytest.raises(CallerGone):
            await unless_gone(caller.request, work())
        return done

    assert asyncio.run(tried()) == ["cleaned up"]
