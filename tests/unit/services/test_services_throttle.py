"""Guessing passwords gets slower with every failure, and only for who guesses."""

from __future__ import annotations

import pytest

from footplate.domain.errors import Throttled
from footplate.services import throttle
from footplate.services.throttle import (
    FIRST_WAIT_S,
    FREE_TRIES_OF_ADDRESS,
    FREE_TRIES_OF_USER,
    LONGEST_WAIT_S,
    LoginThrottle,
)

AT = 1000.0
N_FREE = 5


def begin(limit: LoginThrottle, key: str, times: int, at: float = AT) -> float:
    """Try as often and as early as the throttle lets one; return when the last try was."""
    for _ in range(times):
        at += wait_s(limit, key, at)
        limit.begin(key, at)
    return at


def wait_s(limit: LoginThrottle, key: str, at: float = AT) -> float:
    """How long a key must wait; 0 when it need not."""
    try:
        limit.check(key, at)
    except Throttled as throttled:
        return throttled.retry_after_s
    return 0.0


def test_the_first_tries_are_free() -> None:
    limit = LoginThrottle(N_FREE)
    assert begin(limit, "ann", N_FREE - 1) == AT
    assert wait_s(limit, "ann") == 0


def test_every_further_try_doubles_the_wait_up_to_the_longest() -> None:
    limit, waits = LoginThrottle(N_FREE), []
    at = begin(limit, "ann", N_FREE - 1)
    for _ in range(12):
        at = begin(limit, "ann", 1, at)
        waits.append(wait_s(limit, "ann", at))
    assert waits[:4] == [FIRST_WAIT_S, 2 * FIRST_WAIT_S, 4 * FIRST_WAIT_S, 8 * FIRST_WAIT_S]
    assert max(waits) == waits[-1] == LONGEST_WAIT_S


def test_tries_at_the_same_time_are_refused_and_a_refused_one_does_not_count() -> None:
    limit = LoginThrottle(N_FREE)
    begin(limit, "ann", N_FREE)
    for _ in range(60):
        with pytest.raises(Throttled):
            limit.begin("ann", AT)
    assert wait_s(limit, "ann") == FIRST_WAIT_S


def test_the_wait_counts_from_the_last_try() -> None:
    limit = LoginThrottle(N_FREE)
    begin(limit, "ann", N_FREE)
    assert wait_s(limit, "ann", AT + 0.5) == FIRST_WAIT_S - 0.5
    assert wait_s(limit, "ann", AT + FIRST_WAIT_S) == 0


def test_others_are_not_held_up() -> None:
    limit = LoginThrottle(N_FREE)
    begin(limit, "ann", 20)
    assert wait_s(limit, "bob") == 0


def test_an_address_that_many_share_has_many_more_free_tries() -> None:
    assert FREE_TRIES_OF_ADDRESS >= 10 * FREE_TRIES_OF_USER


def test_a_success_makes_up_for_all_tries() -> None:
    limit = LoginThrottle(N_FREE)
    begin(limit, "ann", N_FREE)
    limit.forget("ann")
    assert wait_s(limit, "ann") == 0
    begin(limit, "ann", N_FREE - 1)
    assert wait_s(limit, "ann") == 0


def test_tries_of_long_ago_are_forgotten() -> None:
    limit = LoginThrottle(N_FREE)
    later = begin(limit, "ann", 20) + 2 * LONGEST_WAIT_S + 1
    limit.begin("ann", later)
    assert wait_s(limit, "ann", later) == 0


def test_a_flood_of_names_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "MOST_REMEMBERED", 10)
    limit = LoginThrottle(N_FREE)
    for number in range(1000):
        begin(limit, f"user-{number}", 1)
    assert len(limit._tries) == 10
