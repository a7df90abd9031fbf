"""Spans of time as the command writes them."""

from __future__ import annotations

import pytest

from footplate.cli.render import show_span


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0.0, "0.00s"), (0.004, "0.00s"), (0.16, "0.16s"), (1.4, "1.4s"), (12.0, "12s"), (0, "0s")],
)
def test_short_spans_keep_their_decimals_also_when_there_is_nothing_but_zeros(
    seconds: float | None, text: str
) -> None:
    assert show_span(seconds) == text
