"""Passwords are kept as salted hashes that say how they were made."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import pytest

from footplate.domain.errors import Throttled
from footplate.services import passwords
from footplate.services.passwords import MOST_WAITING, N_THREADS, HashingThreads, hash_password, matches


def test_a_password_matches_its_own_hash_only() -> None:
    stored = hash_password("pässwörd 密码")
    assert matches("pässwörd 密码", stored)
    assert not matches("passwort", stored)
    assert not matches("", stored)


def test_two_hashes_of_one_password_differ_and_do_not_show_it() -> None:
    first, second = hash_password("correct horse"), hash_password("correct horse")
    assert first != second
    assert "horse" not in first


@pytest.mark.parametrize("stored", ["", "plain text", "scrypt$1$2", "scrypt$x$8$1$AAAA$AAAA", "$$$$$"])
def test_a_hash_that_cannot_be_read_matches_nothing(stored: str) -> None:
    assert not matches("", stored)
    assert not matches("anything", stored)


def test_hashes_made_with_other_costs_still_match(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_N", 16)
    cheap = hash_password("correct horse")
    monkeypatch.undo()
    assert matches("correct horse", cheap)
    assert cheap.startswith("scrypt$16$")


def test_the_cost_is_what_is_recommended_for_logins() -> None:
    assert (passwords._N, passwords._R, passwords._P) >= (2**14, 8, 1)


def test_only_so_many_stand_in_line_for_hashing() -> None:
    hashing = HashingThreads()
    with ExitStack() as line:
        for _ in range(N_THREADS + MOST_WAITING):
            line.enter_context(hashing.turn())
        with pytest.raises(Throttled, match="try again"), hashing.turn():
            pass
    with hashing.turn():
        pass


def test_passwords_are_hashed_and_compared_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_N", 2)

    async def scenario() -> None:
        hashing = HashingThreads()
        stored = await hashing.hash("correct horse")
        assert await hashing.matches("correct horse", stored)
        assert not await hashing.matches("wrong horse", stored)

    asyncio.run(scenario())
