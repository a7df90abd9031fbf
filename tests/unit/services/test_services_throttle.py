"""Guessing passwords gets slower with every failure, and only for who guesses."""

from __future__ import annotations

import asyncio

import pytest

from footplate.domain.errors import Throttled
from footplate.services import throttle
from footplate.services.throttle import FIRST_WAIT_S, LONGEST_WAIT_S, Failures, LoginThrottle

AT = 1000.0
N_FREE = 5


def fail(limit: Failures, key: str, times: int, at: float = AT) -> float:
    """Fail as often and as early as the throttle lets one; return when the last failure was."""
    for _ in range(times):
        at += wait_s(limit, key, at)
        limit.add(key, at)
    return at


def wait_s(limit: Failures, key: str, at: float = AT) -> float:
    """How long a key must wait; 0 when it need not."""
    try:
        limit.check(key, at, N_FREE)
    except Throttled as throttled:
        return throttled.retry_after_s
    return 0.0


def test_the_first_failures_are_free() -> None:
    limit = Failures()
    assert fail(limit, "ann", N_FREE - 1) == AT
    assert wait_s(limit, "ann") == 0


def test_every_further_failure_doubles_the_wait_up_to_the_longest() -> None:
    limit, waits = Failures(), []
    at = fail(limit, "ann", N_FREE - 1)
    for _ in range(12):
        at = fail(limit, "ann", 1, at)
        waits.append(wait_s(limit, "ann", at))
    assert waits[:4] == [FIRST_WAIT_S, 2 * FIRST_WAIT_S, 4 * FIRST_WAIT_S, 8 * FIRST_WAIT_S]
    assert max(waits) == waits[-1] == LONGEST_WAIT_S


def test_the_wait_counts_from_the_last_failure() -> None:
    limit = Failures()
    fail(limit, "ann", N_FREE)
    assert wait_s(limit, "ann", AT + 0.5) == FIRST_WAIT_S - 0.5
    assert wait_s(limit, "ann", AT + FIRST_WAIT_S) == 0


def test_others_are_not_held_up() -> None:
    limit = Failures()
    fail(limit, "ann", 20)
    assert wait_s(limit, "bob") == 0


def test_failures_of_long_ago_are_forgotten() -> None:
    limit = Failures()
    later = fail(limit, "ann", 20) + 2 * LONGEST_WAIT_S + 1
    assert wait_s(limit, "ann", later) == 0
    limit.add("ann", later)
    assert limit.count("ann", later) == 1


def test_a_success_at_one_address_forgives_nothing_at_another() -> None:
    limit = LoginThrottle()
    for _ in range(N_FREE):
        limit.fail("ann", "here", AT)
        limit.fail("ann", "there", AT)
    limit.succeed("ann", "here")
    limit.check("ann", "here", AT)
    with pytest.raises(Throttled):
        limit.check("ann", "there", AT)


def test_a_success_does_not_make_an_address_trusted_again() -> None:
    limit = LoginThrottle()
    for number in range(throttle.FREE_TRIES_OF_ADDRESS):
        limit.fail(f"user-{number}", "here", AT)
    limit.succeed("eve", "here")
    assert limit.is_busy("here", AT)


def test_too_many_at_once_for_one_name_are_refused_and_leave_nothing_behind() -> None:
    limit = LoginThrottle()

    async def wait() -> None:
        async with limit.turn("ann"):
            await asyncio.sleep(0)

    async def crowd() -> list[BaseException | None]:
        return await asyncio.gather(
            *(wait() for _ in range(throttle.MOST_AT_ONCE + 20)), return_exceptions=True
        )

    answers = asyncio.run(crowd())
    assert sum(isinstance(answer, Throttled) for answer in answers) == 20
    assert limit._lines == {}


def test_a_flood_of_names_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "MOST_REMEMBERED", 10)
    limit = LoginThrottle()
    for number in range(1000):
        limit.fail(f"user-{number}", "here", AT)
        limit.succeed(f"user-{number}", "there")
    assert len(limit._pairs._failed) == len(limit._names._failed) == len(limit._known) == 10
