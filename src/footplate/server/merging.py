"""Several streams as one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress


async def merge(lead: AsyncIterator[bytes], others: Sequence[AsyncIterator[bytes]]) -> AsyncIterator[bytes]:
    """Yield what any stream brings, as it comes; all of it ends with the leading one, or when one fails.

    No stream is ahead of the reader by more than one piece, so a slow reader holds all of them back.
    """
    pieces: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue(maxsize=1)

    async def bring(stream: AsyncIterator[bytes], is_lead: bool) -> None:
        try:
            async for piece in stream:
                await pieces.put(piece)
            if is_lead:
                await pieces.put(None)
        # Raised again where the pieces are read.
        except Exception as error:  # noqa: BLE001
            await pieces.put(error)

    tasks = [asyncio.create_task(bring(stream, stream is lead)) for stream in (lead, *others)]
    try:
        while (piece := await pieces.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
