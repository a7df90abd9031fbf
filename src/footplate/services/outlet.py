"""Bytes that a thread makes and the event loop sends, and the other way round: a few chunks apart at most."""

from __future__ import annotations

import asyncio
import contextlib
import io
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable

MOST_CHUNKS = 8
PATIENCE_S = 60


class OtherSideGone(Exception):
    """Whoever was to read what is written, or to write what is read, is gone."""


class Outlet(io.RawIOBase):
    """A file to write to in a thread whose bytes come out on the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._chunks: asyncio.Queue[bytes | Exception] = asyncio.Queue()
        self._room = threading.Semaphore(MOST_CHUNKS)
        self._is_abandoned = False

    async def take(self) -> bytes:
        """Wait for the next chunk, which is empty at the end; raise what went wrong."""
        chunk = await self._chunks.get()
        self._room.release()
        if isinstance(chunk, Exception):
            raise chunk
        return chunk

    def abandon(self) -> None:
        self._is_abandoned = True
        self._room.release()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        chunk = bytes(data)  # type: ignore[call-overload]  # whatever tarfile hands over is a buffer
        if not chunk:
            # What packs so well that there is nothing to send yet: nobody would make room for it.
            return 0
        if self._is_abandoned or not self._room.acquire(timeout=PATIENCE_S) or self._is_abandoned:
            # What closes the archive comes here once more, and must not wait again.
            self._is_abandoned = True
            raise OtherSideGone(f"nobody has read on for {PATIENCE_S} s")
        self._put(chunk)
        return len(chunk)

    def end(self, fault: Exception | None = None) -> None:
        """Say that nothing follows; a fault keeps the reader from taking a part for the whole."""
        self._put(fault or b"")

    def _put(self, chunk: bytes | Exception) -> None:
        # The loop may be gone with its server.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._chunks.put_nowait, chunk)


async def written_by(write: Callable[[Outlet], None]) -> AsyncIterator[bytes]:
    """Yield what a function writes in a thread of its own."""
    outlet = Outlet(asyncio.get_running_loop())

    def run() -> None:
        try:
            write(outlet)
        except Exception as fault:  # noqa: BLE001  # the top of this thread: its reader gets the fault
            outlet.end(fault)
        else:
            outlet.end()

    # A thread of its own: a slow reader must not hold one that the rest of the server needs.
    threading.Thread(target=run, daemon=True, name="footplate-files").start()
    try:
        while chunk := await outlet.take():
            yield chunk
    finally:
        outlet.abandon()


class Inlet(io.RawIOBase):
    """A file to read from in a thread whose bytes come in on the event loop."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._is_over = False
        self._fault: BaseException | None = None
        self._changed = threading.Condition()
        self._left = memoryview(b"")

    async def feed(self, stream: AsyncIterable[bytes]) -> None:
        """Hand over a stream until its end, no faster than it is read."""
        loop, fault = asyncio.get_running_loop(), None
        try:
            async for chunk in stream:
                if not self._offer(chunk):
                    await loop.run_in_executor(None, self._await_room)
        except BaseException as error:
            fault = error
            raise
        finally:
            self._end(fault)

    def _offer(self, chunk: bytes) -> bool:
        with self._changed:
            self._chunks.append(chunk)
            self._changed.notify_all()
            return len(self._chunks) < MOST_CHUNKS

    def _await_room(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: len(self._chunks) < MOST_CHUNKS or self._is_over, PATIENCE_S)

    def _end(self, fault: BaseException | None = None) -> None:
        with self._changed:
            self._is_over, self._fault = True, fault
            self._changed.notify_all()

    def abandon(self) -> None:
        """Say that nobody reads on."""
        with self._changed:
            self._is_over, self._chunks = True, []
            self._changed.notify_all()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes, fewer only at the end."""
        pieces, wanted = [], size if size >= 0 else 1 << 62
        while wanted and (piece := self._take(wanted)):
            pieces.append(piece)
            wanted -= len(piece)
        return b"".join(pieces)

    def _take(self, most: int) -> bytes:
        if not self._left:
            self._left = memoryview(self._next())
        piece, self._left = bytes(self._left[:most]), self._left[most:]
        return piece

    def _next(self) -> bytes:
        with self._changed:
            if not self._changed.wait_for(lambda: self._chunks or self._is_over, PATIENCE_S):
                raise OtherSideGone(f"nothing has come for {PATIENCE_S} s")
            if not self._chunks:
                if self._fault is not None:
                    raise OtherSideGone("the rest does not come")
                return b""
            chunk = self._chunks.pop(0)
            self._changed.notify_all()
            return chunk
