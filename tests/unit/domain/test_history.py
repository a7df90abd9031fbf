"""What jobs held over time, as averages over steps."""

from __future__ import annotations

import pytest

from footplate.domain.history import Span, Use, averages
from footplate.domain.resources import Resources

TWO_CARDS = Resources(4000, 1 << 30, 2)


def gpus(*spans: Span, n_steps: int = 4) -> list[float]:
    return [use.gpus for use in averages(spans, 1000, 100, n_steps)]


@pytest.mark.parametrize(
    ("begin_at", "end_at", "held"),
    [
        (1000, 1400, [2, 2, 2, 2]),
        (1150, 1300, [0, 1, 2, 0]),
        (1110, 1120, [0, 0.2, 0, 0]),
        (0, 1050, [1, 0, 0, 0]),
        (1350, 9000, [0, 0, 0, 1]),
        (0, 900, [0, 0, 0, 0]),
        (5000, 6000, [0, 0, 0, 0]),
        (1200, 1200, [0, 0, 0, 0]),
    ],
)
def test_a_step_counts_the_part_of_it_in_which_something_was_held(
    begin_at: float, end_at: float, held: list[float]
) -> None:
    assert gpus(Span(begin_at, end_at, TWO_CARDS)) == pytest.approx(held)


def test_jobs_add_up_in_all_that_they_held() -> None:
    spans = [Span(1000, 1100, TWO_CARDS), Span(1050, 1100, Resources(1000, 2 << 30, 0))]
    (use,) = averages(spans, 1000, 100, 1)
    assert use == Use(4.5, 2 << 30, 2.0)


def test_without_jobs_nothing_was_held() -> None:
    assert averages([], 1000, 100, 2) == [Use(), Use()]
