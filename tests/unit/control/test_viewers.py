"""Viewers that an earlier server has left are ended, each in the engine that runs it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from footplate.store.viewermarks import ViewerMarks
from footplate.testing.control_bench import life
from footplate.testing.fake_clock import FakeClock
from footplate.testing.misbehaving import GoesAway

VIEWER = "2me19e9zbny0"


def test_one_in_an_engine_that_is_away_is_ended_at_a_later_try(tmp_path: Path) -> None:
    async def story() -> None:
        clock, marks = FakeClock(), ViewerMarks(tmp_path)
        far = GoesAway(clock)
        async with life(tmp_path, clock, more_engines={"far": far}) as server:
            marks.put(VIEWER, "far")
            far.is_away = True
            await server.controller.viewers.end_left()
            assert marks.all() == {VIEWER: "far"}
            far.is_away = False
            await server.controller.viewers.end_left()
            assert marks.all() == {}

    asyncio.run(story())


def test_one_whose_engine_is_no_longer_configured_is_kept_in_mind(tmp_path: Path) -> None:
    async def story() -> None:
        clock, marks = FakeClock(), ViewerMarks(tmp_path)
        async with life(tmp_path, clock) as server:
            marks.put(VIEWER, "gone")
            await server.controller.viewers.end_left()
            assert marks.all() == {VIEWER: "gone"}

    asyncio.run(story())


def test_one_of_a_version_that_noted_no_engine_is_of_the_default_one(tmp_path: Path) -> None:
    async def story() -> None:
        clock, marks = FakeClock(), ViewerMarks(tmp_path)
        async with life(tmp_path, clock) as server:
            marks.put(VIEWER, "")
            await server.controller.viewers.end_left()
            assert marks.all() == {}

    asyncio.run(story())
