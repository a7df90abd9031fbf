"""Prices that change: each second costs what it cost then."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.accounting import Held, Holding, Size
from footplate.domain.pricebook import PriceBook, PricesSince
from footplate.domain.prices import Prices

HOUR_S = 3600.0
CHEAP, DEAR, NONE = Prices("EUR", cpu=1.0), Prices("EUR", cpu=3.0), Prices("EUR")


def holding(since: float, until: float, held: Held | None = None) -> Holding:
    return Holding("a", "a", "ann", "default", (), 0, since, until, held or Held(milli_cpus=1000))


def book(*entries: tuple[float, Prices]) -> PriceBook:
    return PriceBook(tuple(PricesSince(*one) for one in entries))


def test_a_job_that_runs_while_prices_change_pays_both() -> None:
    prices = book((0.0, CHEAP), (10 * HOUR_S, DEAR))
    assert prices.costs([holding(8 * HOUR_S, 11 * HOUR_S)], 0, 24 * HOUR_S) == {"a": pytest.approx(2 + 3)}
    assert prices.costs([holding(0, HOUR_S)], 0, 24 * HOUR_S) == {"a": pytest.approx(1)}
    assert prices.costs([holding(8 * HOUR_S, 11 * HOUR_S)], 10.5 * HOUR_S, 24 * HOUR_S) == {
        "a": pytest.approx(1.5)
    }


def test_the_first_prices_hold_for_what_was_before() -> None:
    assert book((500.0, CHEAP)).costs([holding(0, HOUR_S)], 0, HOUR_S) == {"a": pytest.approx(1)}


def test_prices_that_stay_are_noted_once_and_a_clock_that_was_set_back_keeps_their_order() -> None:
    prices = book((0.0, CHEAP)).with_prices(CHEAP, 5.0).with_prices(DEAR, 10.0).with_prices(NONE, 7.0)
    assert [one.since for one in prices.entries] == [0.0, 10.0, 10.0]
    assert prices.now is NONE
    assert (prices.are_set, prices.currency) == (True, "EUR")


def test_another_currency_is_not_added() -> None:
    dollars = Prices("USD", cpu=2.0)
    prices = book((0.0, CHEAP), (HOUR_S, dollars))
    assert prices.currency == "USD"
    assert prices.costs([holding(0, 2 * HOUR_S)], 0, 2 * HOUR_S) == {"a": pytest.approx(2)}


def test_types_with_cards_of_several_kinds_cost_their_own_price_alone() -> None:
    sizes = (Size("big", 1000, 0, 1, "A100"), 1), (Size("old", 1000, 0, 2, "V100"), 1)
    held = [
        holding(0, HOUR_S, Held(2000, 0, 1, "A100", sizes)),
        holding(0, HOUR_S, Held(gpus=2, gpu_type="V100")),
    ]
    prices = book((0.0, Prices("EUR", cpu=1.0, gpu=9.0, types={"big": 5.0, "old": 2.0})))
    assert prices.costs(held, 0, HOUR_S) == {"a": pytest.approx(7)}


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 100)), min_size=1, max_size=6),
    st.floats(0, 1e6),
    st.floats(0, 1e6),
    st.floats(0, 1e6),
)
def test_a_period_costs_what_its_parts_cost(
    changes: list[tuple[float, float]], first: float, middle: float, last: float
) -> None:
    since, cut, until = sorted((first, middle, last))
    prices = PriceBook()
    for at, cpu in sorted(changes):
        prices = prices.with_prices(Prices("EUR", cpu=cpu), at)
    held = [holding(100.0, 900_000.0)]

    def cost(begin: float, end: float) -> float:
        return prices.costs(held, begin, end).get("a", 0.0)

    assert cost(since, until) == pytest.approx(cost(since, cut) + cost(cut, until), abs=1e-6)
