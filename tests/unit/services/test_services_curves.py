"""Curves of event files: thinned out, and honest about what is no number."""

from __future__ import annotations

from footplate.services.curves import MOST_POINTS, curves_of
from footplate.testing.eventwriter import scalar_event


def test_a_long_curve_keeps_its_ends_and_no_more_points_than_can_be_shown() -> None:
    data = b"".join(scalar_event(0.0, step, "loss", float(step)) for step in range(10_000))
    found = curves_of(data)
    assert found is not None
    [curve] = found
    assert len(curve.steps) == MOST_POINTS
    assert (curve.steps[0], curve.steps[-1]) == (0, 9_999)
    assert list(curve.values) == [float(step) for step in curve.steps]


def test_a_step_that_comes_again_replaces_what_it_said() -> None:
    data = scalar_event(0.0, 1, "loss", 3.0) + scalar_event(0.0, 1, "loss", 2.0)
    found = curves_of(data)
    assert found is not None
    assert list(found[0].values) == [2.0]


def test_each_tag_is_a_curve_and_a_record_that_is_cut_is_left_out() -> None:
    whole = scalar_event(0.0, 1, "b", 1.0) + scalar_event(0.0, 1, "a", 1.0)
    found = curves_of(whole + scalar_event(0.0, 2, "a", 1.0)[:-3])
    assert found is not None
    assert [(curve.tag, len(curve.steps)) for curve in found] == [("a", 1), ("b", 1)]


def test_what_is_no_event_file_has_no_curves() -> None:
    assert curves_of(b"epoch,loss\n1,0.5\n2,0.25\n") is None
