"""Covering secret values in output, byte for byte."""

from __future__ import annotations

import random
import time

import pytest

from footplate.domain.mask import Mask

SECRET = "hunter22"


@pytest.mark.parametrize(
    ("data", "values", "covered"),
    [
        (b"token=hunter22 ok", [SECRET], b"token=******** ok"),
        (b"hunter22hunter22", [SECRET], b"*" * 16),
        (b"xababababx", ["abab"], b"x********x"),
        (b"xaabaaabaax", ["aabaa"], b"x*********x"),
        (b"<abcdef>", ["abcd", "cdef"], b"<******>"),
        # As many stars as bytes, not as characters.
        ("pw=schlüssel".encode(), ["schlüssel"], b"pw=" + b"*" * 10),
        # A log shows a value of several lines line by line.
        (b"  line-one\r\n  line-two\n", ["line-one\nline-two\n"], b"  ********\r\n  ********\n"),
        (b"nothing here", [SECRET], b"nothing here"),
        # Shorter values are found in half of all words.
        (b"abc abc", ["abc"], b"abc abc"),
        (b"    ", ["    "], b"    "),
    ],
)
def test_values_are_covered_and_lengths_stay(data: bytes, values: list[str], covered: bytes) -> None:
    assert Mask(values).cover(data) == covered
    assert len(covered) == len(data)


def test_what_is_left_of_a_value_at_a_cut_is_covered() -> None:
    mask = Mask([SECRET])
    assert mask.cover(b"x hunter", cut_after=True) == b"x ******"
    assert mask.cover(b"ter22 x", cut_before=True) == b"***** x"
    assert mask.cover(b"x hunter") == b"x hunter"
    # A few bytes tell little, and are found everywhere.
    assert mask.cover(b"x hun", cut_after=True) == b"x hun"


@pytest.mark.parametrize(("data", "n_unsure"), [(b"a h", 1), (b"a hunter2", 7), (b"hunter22", 0), (b"h ", 0)])
def test_an_end_that_may_become_a_value_is_known(data: bytes, n_unsure: int) -> None:
    assert Mask([SECRET]).n_unsure(data) == n_unsure


def test_a_mask_without_values_covers_nothing() -> None:
    mask = Mask([""])
    assert not mask
    assert (mask.cover(b"abc", True, True), mask.reach, mask.n_unsure(b"abc")) == (b"abc", 0, 0)


def test_a_mask_costs_little_on_a_long_log() -> None:
    """Ten values in 50 MB: well below the time that it takes to send them."""
    mask = Mask(f"secret-value-{number}" for number in range(10))
    chance = random.Random(1)
    block = b"".join(b"step %d loss %.4f\n" % (n, chance.random()) for n in range(50_000))[: 1024**2]
    began = time.process_time()
    for _ in range(50):
        mask.cover(block)
    assert time.process_time() - began < 3
