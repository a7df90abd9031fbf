"""Does several things at once, of which the first that ends is the end of all."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any


async def until_first(*works: Coroutine[Any, Any, None]) -> Sequence[BaseException | None]:
    """Do all of it until one has ended, and say what each of them raised, if anything."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        raised = await asyncio.gather(*tasks, return_exceptions=True)
    return raised
