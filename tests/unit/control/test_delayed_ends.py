"""A job whose processes cannot be ended says so, once, and holds what it has until they are gone."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path
from typing import Any

import pytest

from footplate.control import retrying
from footplate.domain.events import StopAsked
from footplate.domain.messages import text
from footplate.domain.states import JobState, Reason, ReasonCode
from footplate.store import event_queries
from footplate.testing.control_bench import Life, life
from footplate.testing.fake_clock import FakeClock
from footplate.testing.misbehaving import ResistsStop


def fail_once_after_a_failed_stop(one: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    write, faults = one.store.write, [OSError(errno.ENOSPC, "No space left on device")]

    async def fail_once(unit: Any) -> Any:
        if faults and one.engine.n_failures == 1:  # type: ignore[attr-defined]
            raise faults.pop()
        return await write(unit)

    monkeypatch.setattr(one.store, "write", fail_once)


@pytest.mark.parametrize("is_full", [False, True])
def test_why_a_job_does_not_end_is_told_once_in_its_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_full: bool
) -> None:
    monkeypatch.setattr(retrying, "FIRST_PAUSE_S", 0.01)

    async def story() -> None:
        async with life(tmp_path, FakeClock(), kind=ResistsStop) as one:
            job_id = await one.submit(1)
            await one.until(job_id, JobState.RUNNING)
            if is_full:
                fail_once_after_a_failed_stop(one, monkeypatch)
            await one.tell(
                job_id, StopAsked(one.clock.now(), Reason(ReasonCode.STOPPED_BY_USER, text("stopped by ann")))
            )
            await one.until(job_id, JobState.STOPPED)
            events = await one.store.read(lambda connection: event_queries.after(connection, 0, 100, job_id))
            told = [event for event in events if event.kind == "end_delayed"]
            assert [event.message.partition(":")[0] for event in told] == ["main-0 cannot be ended"]

    asyncio.run(story())
