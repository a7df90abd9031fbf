"""Several streams as one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from footplate.server.merging import merge


async def of(*pieces: bytes, then: asyncio.Event | None = None) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
    if then is not None:
        await then.wait()


async def failing() -> AsyncIterator[bytes]:
    yield b"one"
    raise OSError("broken")


def test_everything_comes_and_each_stream_keeps_its_order() -> None:
    async def run() -> list[bytes]:
        last = asyncio.Event()
        seen = []
        async for piece in merge(of(b"a1", b"a2", then=last), [of(b"b1", b"b2"), of()]):
            seen.append(piece)
            if len(seen) == 4:
                last.set()
        return seen

    seen = asyncio.run(run())
    assert sorted(seen) == [b"a1", b"a2", b"b1", b"b2"]
    assert [piece for piece in seen if piece.startswith(b"b")] == [b"b1", b"b2"]


def test_all_end_with_the_leading_stream() -> None:
    async def run() -> list[bytes]:
        return [piece async for piece in merge(of(b"a"), [of(then=asyncio.Event())])]

    assert asyncio.run(run()) == [b"a"]


def test_a_stream_that_fails_ends_all_with_its_error() -> None:
    async def run() -> None:
        async for _ in merge(of(then=asyncio.Event()), [failing()]):
            pass

    with pytest.raises(OSError, match="broken"):
        asyncio.run(run())


def test_a_reader_that_leaves_closes_every_stream() -> None:
    closed: list[str] = []

    async def noting(name: str) -> AsyncIterator[bytes]:
        try:
            yield name.encode()
            await asyncio.Event().wait()
        finally:
            closed.append(name)

    async def run() -> None:
        merged = merge(noting("lead"), [noting("other")])
        await anext(merged)
        await anext(merged)
        await merged.aclose()  # type: ignore[attr-defined]  # it is a generator

    asyncio.run(run())
    assert sorted(closed) == ["lead", "other"]
