"""Errands: whoever is cancelled leaves no process behind."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from footplate.engines.local.exchange import Answer
from footplate.engines.local.observe.records import Claim, Identity
from footplate.engines.local.process import errand

GONE = Identity(pid=2**22 + 1, start_ticks=1, boot_id="")


def test_who_is_cancelled_while_it_learns_what_was_started_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start is known by its record: between the two nothing may be forgotten."""
    reads, may_read = threading.Event(), threading.Event()
    ended: list[Identity] = []

    def read_claim(_folder: Path) -> Claim:
        reads.set()
        assert may_read.wait(10)
        return Claim(GONE, 0.0)

    async def start() -> list[Answer]:
        return [{}]

    async def end(identity: Identity, _ended: asyncio.Event) -> None:
        ended.append(identity)

    async def story() -> None:
        running = asyncio.create_task(errand.run_errand(start, end, tmp_path, set(), asyncio.Event()))
        await asyncio.to_thread(reads.wait, 10)
        running.cancel()
        may_read.set()
        with pytest.raises(asyncio.CancelledError):
            await running

    monkeypatch.setattr(errand, "read_claim", read_claim)
    asyncio.run(story())
    assert ended == [GONE]
