"""Whether an engine answers: pauses, turns, and who is told."""

from __future__ import annotations

import asyncio

from footplate.domain.messages import text
from footplate.engines.health import Health
from footplate.testing.fake_clock import FakeClock

WHY = text("no route to host")


def wanted() -> bool:
    return True


def test_an_engine_that_is_there_is_not_waited_for() -> None:
    health = Health(FakeClock())
    assert health.away is None
    assert asyncio.run(health.await_turn(wanted)) is False


def test_the_pause_grows_with_every_failure_and_not_with_what_failed_together() -> None:
    clock = FakeClock()
    health = Health(clock)
    for _ in range(5):
        health.fail(WHY)
    clock.advance(1.1)
    assert not health.holds
    health.fail(WHY)
    clock.advance(1.1)
    assert health.holds
    clock.advance(1)
    assert not health.holds


def test_changes_are_told_once() -> None:
    health, told = Health(FakeClock()), []
    health.on_change(lambda: told.append(health.away))
    health.fail(WHY)
    health.fail(WHY)
    health.succeed()
    health.succeed()
    assert told == [WHY, None]


def test_only_one_tries_an_engine_that_is_away() -> None:
    async def story() -> None:
        clock = FakeClock()
        health = Health(clock)
        health.fail(WHY)
        clock.advance(2)
        assert await health.await_turn(wanted) is True
        other = asyncio.create_task(health.await_turn(wanted))
        await asyncio.sleep(0)
        assert not other.done()
        health.succeed()
        health.end_turn()
        assert await other is False, "it is there again: nobody has to try"

    asyncio.run(story())


def test_whoever_is_no_longer_wanted_does_not_wait() -> None:
    health = Health(FakeClock())
    health.fail(WHY)
    assert asyncio.run(health.await_turn(lambda: False)) is False


def test_an_engine_in_doubt_may_be_tried_at_once() -> None:
    health = Health(FakeClock())
    health.doubt(WHY)
    assert health.away == WHY
    assert asyncio.run(health.await_turn(wanted)) is True
