"""Guessing passwords gets slower with every failure, and only for who guesses."""

from __future__ import annotations

import pytest

from footplate.domain.errors import Throttled
from footplate.services import throttle
from footplate.services.throttle import FIRST_WAIT_S, FREE_TRIES, LONGEST_WAIT_S, LoginThrottle

AT = 1000.0


def fail(limit: LoginThrottle, key: str, times: int, at: float = AT) -> None:
    for _ in range(times):
        limit.fail(key, at)


def wait_s(limit: LoginThrottle, key: str, at: float = AT) -> float:
    """How long a key must wait; 0 when it need not."""
    try:
        limit.check(key, at)
    except Throttled as throttled:
        return throttled.retry_after_s
    return 0.0


def test_the_first_failures_are_free() -> None:
    limit = LoginThrottle()
    fail(limit, "ann", FREE_TRIES - 1)
    assert wait_s(limit, "ann") == 0


def test_every_further_failure_doubles_the_wait_up_to_the_longest() -> None:
    limit, waits = LoginThrottle(), []
    fail(limit, "ann", FREE_TRIES - 1)
    for _ in range(12):
        limit.fail("ann", AT)
        waits.append(wait_s(limit, "ann"))
    assert waits[:4] == [FIRST_WAIT_S, 2 * FIRST_WAIT_S, 4 * FIRST_WAIT_S, 8 * FIRST_WAIT_S]
    assert max(waits) == waits[-1] == LONGEST_WAIT_S


def test_the_wait_counts_from_the_last_failure() -> None:
    limit = LoginThrottle()
    fail(limit, "ann", FREE_TRIES)
    assert wait_s(limit, "ann", AT + 0.5) == FIRST_WAIT_S - 0.5
    assert wait_s(limit, "ann", AT + FIRST_WAIT_S) == 0


def test_others_are_not_held_up() -> None:
    limit = LoginThrottle()
    fail(limit, "ann", 20)
    assert wait_s(limit, "bob") == 0


def test_a_success_makes_up_for_all_failures() -> None:
    limit = LoginThrottle()
    fail(limit, "ann", FREE_TRIES)
    limit.succeed("ann")
    assert wait_s(limit, "ann") == 0
    fail(limit, "ann", FREE_TRIES - 1)
    assert wait_s(limit, "ann") == 0


def test_failures_of_long_ago_are_forgotten() -> None:
    limit = LoginThrottle()
    fail(limit, "ann", 20)
    later = AT + 2 * LONGEST_WAIT_S + 1
    limit.fail("ann", later)
    assert wait_s(limit, "ann", later) == 0


def test_a_flood_of_names_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "MOST_REMEMBERED", 10)
    limit = LoginThrottle()
    for number in range(1000):
        fail(limit, f"user-{number}", 1)
    assert len(limit._failures) == 10
